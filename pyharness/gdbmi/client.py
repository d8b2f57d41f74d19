"""One gdb process spoken to over MI: commands with answers, and a stream of notices."""

from __future__ import annotations

import contextlib
import itertools
import os
import re
import shutil
import signal
import subprocess
import sysconfig
import threading
import time
from collections import deque
from dataclasses import replace
from typing import IO, TYPE_CHECKING

from pyharness.gdbmi.records import Notice, Record, Result, Stream, Value, parse, quote
from pyharness.host.descriptors import streams_held
from pyharness.host.folders import working_folder
from pyharness.host.forks import blind, own
from pyharness.model.errors import DebuggerLostError, HarnessError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager

_LOG_LINES = 2000
_SLICE_SECONDS = 1.0
_CONDITION = "Error in testing "
"""How gdb begins to say that a condition cannot be tested: then it stops, and does not say so in the stop itself."""
_PYTHON_FAILED = "Error occurred in Python."
"""All that gdb says where its Python could not even make a message."""
_OUT_OF_MEMORY = (
    "gdb's Python failed without a word, as it does where it has too little memory.",
    "`ulimit -v` shows the limit, and `ulimit -v unlimited` lifts it for this shell, where it may be lifted.",
)
_CHANCES = 4
"""Slices that gdb has for an answer when its program has ended."""
NO_CORE = ("-iex", "maint set internal-error quit yes", "-iex", "maint set internal-error corefile no")
"""A gdb whose own assertion fails would dump its core where we are, whatever the limit; 13 may as a program dies."""
INSTALL_GDB = (
    "Install it (Debian, Ubuntu: `apt-get install gdb`; without root: `pip install 'pyharness-debugger[gdb]'`),"
    " or name one in $PYHARNESS_GDB."
)


class GdbError(HarnessError):
    """gdb refused a command; the message is gdb's own."""


class GdbBusyError(GdbError):
    """gdb has not answered a command in time; until it does it can do nothing else."""

    def __init__(self, text: str) -> None:
        super().__init__(f"gdb has not answered {_name_of(text)} in time, and is busy with it.")


class GdbLostError(DebuggerLostError):
    """The gdb process is gone."""


def find_gdb() -> str:
    """Path of gdb: ``$PYHARNESS_GDB``, else on ``PATH``, else our environment's own; an error with the remedy."""
    named = os.environ.get("PYHARNESS_GDB")
    wanted = named or "gdb"
    path = shutil.which(wanted) or (None if named else shutil.which(wanted, path=sysconfig.get_path("scripts")))
    if path is None:
        raise HarnessError(f"gdb was not found ({wanted!r} is not an executable on PATH).", INSTALL_GDB)
    return path


_IS_PYTHONS = re.compile(r"PYTHON[A-Z]").match


class _Pending:
    """A command that waits for its answer."""

    def __init__(self, text: str, on_answer: Callable[[], None], *, told: bool = False) -> None:
        self.text = text
        self.on_answer = on_answer
        self.told = told
        """Nobody waits; that gdb refuses it is told as a notice."""
        self.answered = threading.Event()
        self.result: Result | None = None


def environment() -> dict[str, str]:
    """The environment for gdb, without what is for the program: a sanitizer in ``LD_PRELOAD``, Python's variables.

    With a sanitizer gdb would not start; its own interpreter would obey ``PYTHONHOME`` or ``PYTHONWARNINGS=error``.
    """
    return {name: value for name, value in os.environ.items() if name != "LD_PRELOAD" and not _IS_PYTHONS(name)}


@contextlib.contextmanager
def hears_children() -> Iterator[None]:
    """A gdb that is started within hears of what it debugs; a signal that this process was born with blocked stays so.

    gdb waits for SIGCHLD, and does not unblock it: it would wait for ever.
    """
    before = signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class GdbClient:
    """Runs ``gdb --interpreter=mi3`` and reads it on a thread of its own.

    ``on_notice`` is called on that thread for each asynchronous record and, with ``None``, once when gdb ends.
    """

    def __init__(self, on_notice: Callable[[Notice | None], None], arguments: Sequence[str] = (), **env: str) -> None:
        self._on_notice = on_notice
        self._pending: dict[int, _Pending] = {}
        self._tokens = itertools.count(1)
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._deaf = False
        self._unanswered: _Pending | None = None
        """What gdb is busy with, since its time was over."""
        self._condition: list[str] | None = None
        """What gdb has said of a condition that it could not test, until it tells of the stop."""
        self.target_is_gone: Callable[[], bool] = lambda: False
        """Whether the process that gdb debugs has ended."""
        self.transcript: deque[str] = deque(maxlen=_LOG_LINES)
        # A group of its own: Ctrl-C in the terminal is for the controller, which ends gdb in order.
        with streams_held(), hears_children():
            self._process = subprocess.Popen(
                [find_gdb(), "-nx", "-q", *NO_CORE, "--interpreter=mi3", *arguments],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                env={**environment(), **env},
                cwd=working_folder(),
            )
        own(self)
        self._reader = threading.Thread(target=self._read, name="pyharness-gdb", daemon=True)
        self._reader.start()

    @property
    def pid(self) -> int:
        """Process id of gdb."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether gdb still answers."""
        return not self._ended.is_set()

    def ends(self, seconds: float) -> bool:
        """Whether gdb has ended, or does so within that time."""
        return self._ended.wait(seconds)

    @property
    def was_killed(self) -> bool:
        """Whether somebody has ended it by force."""
        return self._process.poll() == -signal.SIGKILL

    def command(
        self,
        text: str,
        timeout: float | None = 60.0,
        waits: AbstractContextManager[None] | None = None,
        on_answer: Callable[[], None] = lambda: None,
    ) -> dict[str, Value]:
        """Send one MI command and wait for its answer, at most ``timeout`` seconds.

        ``waits`` is entered for as long as gdb has the command. ``on_answer`` is called on the reader's thread, after
        all notices that come before the answer, and before all others. Raises ``GdbError`` when gdb refuses it,
        ``GdbBusyError`` when it does not answer in time, or not even an earlier command, ``GdbLostError`` when gdb is
        gone.
        """
        self._must_be_free()
        with waits or contextlib.nullcontext():
            return self._answer_to(self._send(text, on_answer), timeout)

    def begin(self, text: str) -> Callable[[], dict[str, Value]]:
        """Send one MI command, and wait for its answer only where that is called for: else as ``command``."""
        self._must_be_free()
        pending = self._send(text)
        return lambda: self._answer_to(pending, timeout=60.0)

    def _must_be_free(self) -> None:
        if self._unanswered is not None and not self._unanswered.answered.is_set():
            raise GdbBusyError(self._unanswered.text)

    def _answer_to(self, pending: _Pending, timeout: float | None) -> dict[str, Value]:
        if not self._is_answered(pending, timeout):
            if self._deaf:
                raise GdbError(f"gdb did not answer {_name_of(pending.text)} after the program's end.")
            self._unanswered = pending
            raise GdbBusyError(pending.text)
        result = pending.result
        if result is None:
            raise GdbLostError("gdb")
        if result.kind == "error":
            message = str(result.values.get("msg", "gdb reported an error without a message")).strip()
            raise GdbError(*(_OUT_OF_MEMORY if message == _PYTHON_FAILED else (message,)))
        return result.values

    def _is_answered(self, pending: _Pending, timeout: float | None) -> bool:
        """Wait for it, but not long once the program is gone: one that dies while gdb attaches can leave gdb deaf."""
        end = time.monotonic() + timeout if timeout is not None else float("inf")
        chances = 1 if self._deaf else _CHANCES
        while not pending.answered.wait(_SLICE_SECONDS):
            chances -= self.target_is_gone()
            self._deaf = chances == 0
            if self._deaf or time.monotonic() >= end:
                return False
        return True

    def post(self, text: str) -> None:
        """Send one MI command whose answer nobody needs; the next one is handled after it."""
        self._send(text)

    def start(self, text: str) -> None:
        """Send a command that lets the program run; if gdb refuses it, a notice of kind ``refused`` says why.

        What comes of it is told by notices in any case: who waits for ``^running`` first is in gdb's way.
        """
        self._send(text, told=True)

    def console(self, text: str, timeout: float | None = 60.0) -> None:
        """Run a console command; its output goes to the transcript."""
        self.command(f"-interpreter-exec console {quote(text)}", timeout)

    def close(self, patience: float = 5.0) -> bool:
        """End gdb (it detaches from what it attached to) and wait for it; by force after ``patience`` seconds.

        Returns whether it ended in order.
        """
        if self.alive:
            with contextlib.suppress(OSError, GdbLostError):
                self._send("-gdb-exit")
        try:
            self._process.wait(timeout=0 if self._deaf else patience)
        except subprocess.TimeoutExpired:
            os.killpg(self._process.pid, signal.SIGTERM)
            try:
                self._process.wait(timeout=2)
            except subprocess.TimeoutExpired:
                os.killpg(self._process.pid, signal.SIGKILL)
                self._process.wait()
        self._reader.join(timeout=5)
        for stream in (self._process.stdin, self._process.stdout):
            if stream:
                with contextlib.suppress(OSError):
                    stream.close()
        return self._process.returncode == 0

    def disown(self) -> None:
        """Forget it, in a forked child: gdb ends when nobody has the other end of its input any more."""
        blind(stream.fileno() for stream in (self._process.stdin, self._process.stdout) if stream and not stream.closed)

    def _send(self, text: str, on_answer: Callable[[], None] = lambda: None, *, told: bool = False) -> _Pending:
        pending = _Pending(text, on_answer, told=told)
        with self._lock:
            token = next(self._tokens)
            self._pending[token] = pending
            self.transcript.append(f"-> {token}{text}")
            if not self._write(f"{token}{text}\n"):
                self._pending.pop(token, None)
                pending.answered.set()
        return pending

    def _write(self, line: str) -> bool:
        stdin: IO[bytes] | None = self._process.stdin
        if stdin is None or not self.alive:
            return False
        try:
            stdin.write(line.encode("utf-8", "surrogateescape"))
            stdin.flush()
        except (BrokenPipeError, ValueError):
            return False
        return True

    def _read(self) -> None:
        stdout = self._process.stdout
        if stdout is None:
            return
        for raw in stdout:
            line = raw.decode("utf-8", "surrogateescape").rstrip("\n")
            self.transcript.append(f"<- {line}")
            self._dispatch(parse(line))
        self._ended.set()
        with self._lock:
            waiting = list(self._pending.values())
            self._pending.clear()
        for pending in waiting:
            pending.answered.set()
        self._on_notice(None)

    def _dispatch(self, record: Record) -> None:
        if isinstance(record, Result):
            pending = self._pending.pop(record.token, None) if record.token is not None else None
            if pending:
                pending.result = record
                pending.on_answer()
                pending.answered.set()
                if pending.told and record.kind == "error":
                    self._on_notice(Notice("=", "refused", record.values))
        elif isinstance(record, Notice):
            self._on_notice(self._with_condition(record))
        elif isinstance(record, Stream) and record.channel == "~":
            self._on_notice(Notice("~", "console", {"text": record.text}))
        elif isinstance(record, Stream) and record.channel == "&":
            if record.text.startswith(_CONDITION):  # gdb 18 has all of it in one record
                self._condition = record.text.splitlines()[1:]
            elif self._condition is not None:
                self._condition.append(record.text.strip())

    def _with_condition(self, notice: Notice) -> Notice:
        """A stop with what gdb said before of its condition, as ``condition-error``."""
        if notice.kind != "stopped" or self._condition is None:
            return notice
        said, self._condition = " ".join(self._condition), None
        return replace(notice, values={**notice.values, "condition-error": said})


def _name_of(text: str) -> str:
    """The name of an MI command."""
    return text.split(" ", 1)[0]
