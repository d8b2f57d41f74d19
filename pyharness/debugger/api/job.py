"""``debug_job``: a distributed job of which some ranks are programs under both debuggers."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import IO, TYPE_CHECKING, Any, TypeVar

from typing_extensions import Self

from pyharness.debugger.api.program import Program
from pyharness.debugger.starting import words
from pyharness.debugger.starting.attach import Attachment
from pyharness.debugger.starting.job import JobCommand
from pyharness.model import given_numbers
from pyharness.model.errors import HarnessError, UsageError
from pyharness.model.evaluation import EVAL_TIMEOUT, checked_timeout
from pyharness.model.frozen import frozen
from pyharness.model.ranks.named import named_ranks
from pyharness.model.text.ranges import in_ranges

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from pyharness.protocol.channel import Child

Result = TypeVar("Result")
_LOOKS = 0.5
"""Seconds from one look at whether enough ranks have come to the next."""
_COMES = 120.0
"""Seconds that a rank may take to come: torch is imported by all at once."""


def debug_job(  # noqa: PLR0913  (each is a thing a user may want to say)
    *command: str | os.PathLike[str],
    ranks: int | Iterable[int] | str = "all",
    cwd: str | os.PathLike[str] | None = None,
    env: Mapping[str, str] | None = None,
    stdout: IO[Any] | int | None = None,
    include: Sequence[str] = (),
    progress: Callable[[str], None] | None = None,
    notes: Callable[[str], None] | None = None,
    crashes: bool = False,
    eval_timeout: float = EVAL_TIMEOUT,
) -> Job:
    """Start a distributed job; the ranks that are named stand before their first line, the others run.

    Use it in a ``with`` block, which ends the job. No timeout of a process group ends a rank that waits for one that
    stands, as long as the job is debugged. A rank that is debugged stands until it is told to go on: where one waits
    for another, tell both (``Job.each``).

    Args:
        command: What starts the job: ``"torchrun", "--nproc-per-node", "4", "train.py"``, or a script that spawns.
        ranks: A rank, several, text as ``"0,2-5"``, or ``"all"``.
        cwd: Its working folder.
        env: Added to its environment.
        stdout: Where its output goes (as ``subprocess.Popen`` takes it); this process's when ``None``.
        include: As for ``debug``, of each rank.
        progress: As for ``debug``.
        notes: As for ``debug``.
        crashes: As for ``debug``.
        eval_timeout: As for ``debug``.

    Raises:
        HarnessError: There is no such program, or it cannot be started; the error carries the remedy.

    """
    checked_timeout(eval_timeout)
    named = JobCommand(
        words.words("command", command),
        _numbers(ranks),
        cwd=None if cwd is None else words.word("cwd", cwd),
        stdout=words.stream("stdout", stdout),
        env=words.environment(env or {}),
    )
    named.check()
    options = RankOptions(
        words.words("include", include),
        words.function("progress", progress),
        words.function("notes", notes),
        words.flag("crashes", crashes),
        eval_timeout,
        named.program.file,
    )
    return Job(named, options)


@frozen
class RankOptions:
    """How each rank is debugged; see ``debug``."""

    include: tuple[str, ...] = ()
    progress: Callable[[str], None] | None = None
    notes: Callable[[str], None] | None = None
    crashes: bool = False
    eval_timeout: float = EVAL_TIMEOUT
    file: str = ""
    """The script of the job, as far as its command says."""

    def attach(self, handle: str) -> Program:
        """The program of a rank that waits under a handle."""
        return Program(
            Attachment(handle, file=self.file),
            self.include,
            self.progress,
            notes=self.notes,
            crashes=self.crashes,
            eval_timeout=self.eval_timeout,
        )


class Job:
    """A job that runs, with its debugged ranks; made by ``debug_job``."""

    def __init__(self, command: JobCommand, options: RankOptions) -> None:
        self._wanted = command.ranks
        self._options = options
        self._changed, self._making = threading.Condition(), threading.Lock()
        self._came: dict[int, Child] = {}
        self._programs: dict[int, Program] = {}
        self._left = False
        self.exit_code: int | None = None
        """Exit code of what started the job, once it has ended; negative for a signal."""
        self._job = command.start(self._calls, self._ends)

    @property
    def pid(self) -> int:
        """Process id of what started the job."""
        return self._job.pid

    @property
    def ranks(self) -> tuple[int, ...]:
        """The debugged ranks that have come so far."""
        with self._changed:
            return tuple(sorted(rank for rank, child in self._came.items() if child.handle))

    def rank(self, number: int, seconds: float = _COMES) -> Program:
        """A debugged rank, as soon as it has come: it stands before its first line, or where its group is made.

        Args:
            number: The rank.
            seconds: How long it may take to come.

        Raises:
            HarnessError: The job has ended, or the rank is not debugged or does not come.

        """
        given_numbers.seconds("seconds", seconds)
        with self._changed:
            self._changed.wait_for(lambda: number in self._came or self.exit_code is not None, seconds)
            child = self._came.get(number)
            if child is None or not child.handle:
                raise self._missing(number, seconds)
        with self._making:
            if number not in self._programs:
                self._programs[number] = self._options.attach(child.handle)
            return self._programs[number]

    def coming(self, enough: Callable[[], bool] | None = None) -> Iterator[int]:
        """Each debugged rank as it comes; ends when all have come, at the job's end, and where it is ``enough``.

        All are those that are named; with ``ranks="all"`` as many as the launcher has said.
        """
        given: set[int] = set()
        while not self._are_all(given):
            with self._changed:
                self._changed.wait_for(lambda: set(self.ranks) - given or self.exit_code is not None, _LOOKS)
                new, ended = sorted(set(self.ranks) - given), self.exit_code is not None
            if not new and (ended or (enough is not None and enough())):
                return
            yield from new
            given.update(new)

    def _are_all(self, ranks: set[int]) -> bool:
        if self._wanted:
            return ranks >= set(self._wanted)
        worlds = [child.world for child in list(self._came.values()) if child.world]
        return bool(worlds) and len(ranks) >= max(worlds)

    def each(self, do: Callable[[Program], Result]) -> dict[int, Result]:
        """Do something in all debugged ranks at once, each on a thread of its own: they may wait for each other.

        With ``ranks="all"`` these are the ranks that have come so far; ``rank`` waits for one.

        Returns:
            By rank what ``do`` has returned. What it raises in one rank is raised when all have returned.

        """
        ranks = self._wanted or self.ranks
        if not ranks:
            raise UsageError("No rank has come yet.", "Wait for one first: job.rank(0).")
        programs = {rank: self.rank(rank) for rank in ranks}
        with ThreadPoolExecutor(len(programs), "pyharness-rank") as pool:
            begun = {rank: pool.submit(do, program) for rank, program in programs.items()}
        return {rank: done.result() for rank, done in begun.items()}

    def wait(self) -> int:
        """Let all debugged ranks go, and wait for the job's end; its exit code, negative for a signal."""
        self.detach()
        return self._job.wait()

    def detach(self) -> None:
        """Leave the job running without any debugger; each process group has its own timeout again."""
        if not self._left:
            self._left = True
            self._job.leave()
            for program in self._programs.values():
                with suppress(HarnessError):
                    program.detach()

    def kill(self) -> None:
        """End the job with all its ranks."""
        self._job.end()

    def close(self) -> None:
        """End the job, unless it was left."""
        if not self._left and self.exit_code is None:
            self.kill()
        for program in self._programs.values():
            program.close()
        self._job.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _calls(self, child: Child) -> None:
        rank = child.rank or 0
        is_wanted = not self._wanted or rank in self._wanted
        with self._changed:
            if child.handle or not is_wanted:  # one that is debugged calls a second time, with its handle
                self._came[rank] = child
            self._changed.notify_all()

    def _ends(self, code: int) -> None:
        with self._changed:
            self.exit_code = code
            self._changed.notify_all()

    def _missing(self, number: int, seconds: float) -> HarnessError:
        others = in_ranges(self._came)
        there = f"Ranks {others} came." if others else "No rank came: does it have RANK in its environment?"
        if self.exit_code is not None:
            ended = f"The job has ended (exit code {self.exit_code})"
            return HarnessError(f"{ended}, and rank {number} is not there.", there)
        if number in self._came:
            return UsageError(f"Rank {number} is not debugged: it runs on.", "Name it: debug_job(..., ranks=...).")
        return HarnessError(f"Rank {number} has not come within {seconds:g} s.", there)


def _numbers(ranks: object) -> tuple[int, ...]:
    if isinstance(ranks, str):
        return named_ranks(ranks)
    several = [ranks] if isinstance(ranks, int) else ranks
    if not isinstance(several, Iterable):
        raise UsageError(f"ranks must be numbers, not {ranks!r}.", "For example: ranks=3, ranks=[0, 2], ranks='all'.")
    found = tuple(several)
    if not found or not all(isinstance(each, int) and not isinstance(each, bool) and each >= 0 for each in found):
        raise UsageError(f"{ranks!r} names no ranks.", "For example: ranks=3, ranks=[0, 2], ranks='all'.")
    return found
