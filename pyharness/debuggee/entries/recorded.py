"""What ``pyharness trace`` runs: the user's script, recorded from its import of torch to the end of the process.

python START.py trace FOLDER OPTIONS [-m] SCRIPT [ARGS...]      OPTIONS: a JSON object, see ``Request``

FOLDER gets ``trace.json`` at the end (also after an exception or ``sys.exit``), ``error.json`` where recording failed,
and meanwhile ``count``: how many events there are so far.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import signal
import sys
import threading
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyharness.debuggee import program_process

if TYPE_CHECKING:
    from pyharness.debuggee.watched.recorded_regions import Regions
    from pyharness.model.results.trace import Trace

_TORCH = "torch"
_EVERY = 0.2
"""Seconds between two counts."""


@dataclass(frozen=True)
class Request:
    """What to record; ``options`` are those of ``pyharness.record``."""

    options: dict[str, Any]
    regions: bool = False
    """Only what the program's own ``with pyharness.record()`` blocks record."""
    progress: bool = False
    """Whether somebody looks at the count."""


def main() -> int:
    """Become the script, with a recording around it."""
    # All of them now: one that is loaded at the end could make Python forget that it is to die of SIGINT (exec() does).
    from pyharness.debuggee.__main__ import become, parse
    from pyharness.debuggee.watched import (
        generated,
        recorded_regions,  # noqa: F401
    )
    from pyharness.debuggee.watched.imports import after_import
    from pyharness.debuggee.watched.kernels import INDUCTOR
    from pyharness.model.results import trace_file  # noqa: F401

    folder, request, *arguments = sys.argv[1:]
    options = parse(arguments)
    recorded = Recorded(Path(folder), Request(**json.loads(request)))
    atexit.register(recorded.end)  # the first to be registered is the last to be called: threads have ended by then
    generated.install(lambda _: None)
    recorded.note_names()
    recorded.kept.note()
    after_import(_TORCH, lambda _: recorded.begin())
    after_import(INDUCTOR, lambda _: recorded.follow_kernels())
    return become(options)


class Whole:
    """A recording of everything from ``begin`` to ``end``."""

    def __init__(self, options: dict[str, Any]) -> None:
        from pyharness.native.recording import record

        self._recording = record(**options)

    def begin(self) -> None:
        """Record from now on."""
        self._recording.__enter__()

    def follow_kernels(self) -> None:
        """Record the kernels of torch.compile's, too."""
        self._recording.follow_kernels()

    @property
    def count(self) -> int:
        """Events so far."""
        return self._recording.count

    def end(self) -> Trace:
        """What was recorded."""
        self._recording.__exit__(None, None, None)
        return self._recording.trace


def _regions() -> Regions:
    from pyharness.debuggee.watched.recorded_regions import Regions

    return Regions()


class Recorded:
    """The recording of this process, which a forked child has no part in."""

    def __init__(self, folder: Path, request: Request) -> None:
        from pyharness.debuggee.pydevd.emptied_modules import KeptModules
        from pyharness.debuggee.unpatched import threading as own
        from pyharness.model.ranks.launchers import run_of, told_rank

        self._folder = folder
        self._request = request
        self._source: Whole | Regions | None = None
        self._ended = own.Event()
        self._names: dict[int, str] = {}
        told = told_rank(os.environ)
        self._rank = told[0] if told else None
        self._run = run_of(os.environ)
        self.kept = KeptModules()
        """What the end needs, where the program empties ``sys.modules``."""

    def note_names(self) -> None:
        """Remember what threads are called: they may have ended when the trace is made."""
        original = getattr(threading.Thread, "_set_native_id", None)
        if original is None:
            return

        def set_native_id(thread: threading.Thread) -> None:
            original(thread)
            self._names[thread.native_id or 0] = thread.name

        threading.Thread._set_native_id = set_native_id  # type: ignore[attr-defined]

    def begin(self) -> None:
        """torch is there: record from now on."""
        from pyharness.model.errors import HarnessError

        try:
            self._source = Whole(self._request.options) if not self._request.regions else _regions()
            self._source.begin()
        except HarnessError as error:
            self._fail(error.message, error.remedy)
            raise SystemExit(error.exit_code) from None
        self.kept.note()
        if self._request.progress:
            from pyharness.debuggee.link import quiet_thread

            quiet_thread.start(self._count)

    def follow_kernels(self) -> None:
        """inductor is there: record what it makes; regions begin later, and see by themselves that it is there."""
        if isinstance(self._source, Whole):
            self._source.follow_kernels()

    def end(self) -> None:
        """The process ends: hand the trace over."""
        self.kept.put_back()
        self.kept.forget()
        from pyharness.host.state import write_private
        from pyharness.model.errors import HarnessError
        from pyharness.model.results import trace_file
        from pyharness.model.results.trace import Trace

        if not program_process.is_here() or self._has_failed():
            return
        self._ended.set()
        signal.signal(
            signal.SIGINT, signal.SIG_IGN
        )  # impatience shall not cost the trace; Python dies of it all the same
        gc.disable()  # nothing but the trace is made from now on, and its many objects have no cycles
        try:
            trace = self._named(self._source.end() if self._source else Trace((), (), 0))
            write_private(self._folder / "trace.json", trace_file.dump(trace))
        except HarnessError as error:
            self._fail(error.message, error.remedy)
        except Exception as error:  # noqa: BLE001  (the program's exit status stands; whoever asked is told)
            self._fail(f"The trace could not be written: {type(error).__name__}: {error}")

    def _named(self, trace: Trace) -> Trace:
        # The kernel may still have a thread that Python has ended, and calls it as the program.
        alive = {thread.native_id for thread in threading.enumerate()}
        threads = {tid: name if tid in alive else self._names.get(tid, name) for tid, name in trace.threads.items()}
        return replace(trace, threads=threads, rank=self._rank, run=self._run, host=os.uname().nodename)

    def _has_failed(self) -> bool:
        """Whether that was told already; a program that is another user's by now may not look."""
        with suppress(OSError):
            return (self._folder / "error.json").exists()
        return False

    def _fail(self, message: str, remedy: str = "") -> None:
        from pyharness.host.state import write_private

        with suppress(OSError):  # the program may have taken the folder away, and must end as it would
            write_private(self._folder / "error.json", json.dumps({"message": message, "remedy": remedy}).encode())

    def _count(self) -> None:
        from pyharness.host.descriptors import above_streams

        with suppress(OSError):  # a full disk: nobody sees how far it is
            counter = above_streams(os.open(self._folder / "count", os.O_WRONLY | os.O_CREAT, 0o600))
            while self._source and not self._ended.is_set():
                os.pwrite(counter, b"%20d" % self._source.count, 0)
                self._ended.wait(_EVERY)
