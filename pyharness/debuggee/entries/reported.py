"""What ``pyharness run --report`` becomes: the user's script under a handle, whose end is written down.

python START.py report NAME FOLDER SECONDS SANITIZED [-m] SCRIPT [ARGS...]

Without a FOLDER it is told on stderr alone; 0 SECONDS: hangs are nobody's concern; SANITIZED: 1 or 0.
"""

from __future__ import annotations

import faulthandler
import functools
import json
import os
import sys
from typing import TYPE_CHECKING, Any, ClassVar

from pyharness.debuggee import program_process
from pyharness.debuggee.in_place.harness import Harness
from pyharness.debuggee.link.ptracer import allow_ptrace
from pyharness.model.codec import decode, encode
from pyharness.model.errors import HarnessError
from pyharness.model.ranks.launchers import told_rank
from pyharness.model.text.visible import say
from pyharness.protocol.aftermath import Reported

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

_START = os.path.realpath(os.path.join(__file__, "../../start.py"))  # noqa: PTH118  (as start.py has it)
_NOT_THEIRS = ("LD_PRELOAD", "PYTHONINSPECT", "PYHARNESS_PROMPT")
"""Variables that are meant for the program, and not for the process that reads it."""
_WORKERS = "torch.utils.data._utils.signal_handling"


def main() -> int:
    """Become the script, with somebody to tell of its end."""
    from pyharness.debuggee.entries import entry

    folder, seconds, sanitized = sys.argv[2:5]
    del sys.argv[2:5]
    command = tuple(sys.argv[2:])
    reporter = Reporter(Reported(folder, command[1] if command[0] == "-m" else command[0], command))
    try:
        reporter.begin()
        _Watched(reporter, seconds).begin()
        if sanitized == "1":
            from pyharness.debuggee.entries.sanitized import begin

            begin()
            _say_if_unchecked()
    except (HarnessError, OSError) as error:
        say(f"no report will be written: {error}")
        return entry.main()
    listens = sanitized != "1" or _may_have_our_thread()
    return entry.main(reporter.raised, listens=listens) if folder else entry.main(listens=listens)


def _may_have_our_thread() -> bool:
    """Whether one changes nothing: ThreadSanitizer looks at no child of a process that forks with several threads."""
    from pyharness.reading.sanitized.runtimes import VARIABLE

    return os.environ.get(VARIABLE) != "tsan"


def _say_if_unchecked() -> None:
    """At the end, where the program has loaded nothing that was built for the sanitizer."""
    import atexit

    from pyharness.reading.sanitized.runtimes import VARIABLE, without_checks

    owner, name = os.getpid(), os.environ[VARIABLE]

    def at_end() -> None:
        if os.getpid() == owner and (said := without_checks(name)):
            say(said)

    atexit.register(at_end)


class _Watched:
    """Whoever looks from beside whether the program goes on, and the process that it looks at."""

    def __init__(self, reporter: Reporter, seconds: str) -> None:
        self._reporter = reporter
        self._seconds = seconds
        self._process = 0

    def begin(self) -> None:
        """Have this process looked at, and each that goes on in its place."""
        Reporter.folder_of_program = self._reporter.folder
        program_process.takes_along(self)
        self.go_on()

    def rest(self) -> None:
        """Nothing: the process that waits for another one is no hang to whoever looks at it."""

    def go_on(self) -> None:
        """Have this process looked at, where it is another one."""
        if self._process != os.getpid():
            self._process = os.getpid()
            self._reporter.goes_along()
            if float(self._seconds):
                self._reporter.watch("hangs", self._seconds)


class Reporter:
    """Has a process of ours read this one and write the report."""

    folder_of_program: ClassVar[str] = ""
    """Where `pyharness run --report` wants reports of this program; empty for none."""

    def __init__(self, reported: Reported) -> None:
        self._reported = reported
        self._is_rank = told_rank(os.environ) is not None
        self._environment = {name: value for name, value in os.environ.items() if name not in _NOT_THEIRS}
        self._owner = os.getpid()
        self.follow_threads: Callable[[], None] = lambda: None
        """Call it where libraries may have been loaded: their threads' stacks are watched, too."""

    @property
    def folder(self) -> str:
        """Where the reports are."""
        return self._reported.folder

    def begin(self) -> None:
        """Be told of crashes from now on."""
        from pyharness.debuggee.entries.spawned import begin_in_spawned
        from pyharness.debuggee.watched.imports import after_import
        from pyharness.native.crash_watch import thread_watch, watch_crashes

        launcher = os.getppid() if self._is_rank else 0
        allow_ptrace(launcher)  # each rank's reporter looks at all ranks
        watch_crashes(_words("aftermath", self._reported), self._environment, reader=launcher)
        faulthandler.enable = _first_again(faulthandler.enable)
        faulthandler.disable = _first_again(faulthandler.disable, leaves=True)
        after_import(_WORKERS, _stay_first_in_workers)
        reported = json.dumps(encode(self._reported))
        begin_in_spawned(begin_spawned, reported, lacks="no crash of this process is reported")
        self.follow_threads = thread_watch()
        after_import("torch", lambda _torch: self.follow_threads())

    def goes_along(self) -> None:
        """Be of this process from now on, which goes on in the place of its parent."""
        self._owner = os.getpid()

    def watch(self, program: str, *words: str) -> None:
        """Have a program of ours look from beside whether this one goes on."""
        from pyharness.native.crash_watch import start_unseen

        watcher = start_unseen([*_words(program, self._reported), str(self._owner), *words], self._environment)
        if not self._is_rank:
            allow_ptrace(watcher)

    def raised(self, error: BaseException) -> None:
        """Write of an exception that nobody has caught; not of Ctrl-C."""
        if isinstance(error, KeyboardInterrupt) or os.getpid() != self._owner:
            return
        from dataclasses import replace

        from pyharness.debuggee.shown.raised import described
        from pyharness.native.crash_watch import start_unseen, wait_for_unseen

        sys.last_value = error  # who looks at all ranks reads it there
        descriptor = os.memfd_create("pyharness", 0)
        try:
            os.write(descriptor, json.dumps(encode(described(error))).encode("utf-8", "backslashreplace"))
            words = _words("aftermath", replace(self._reported, raised=descriptor))
            process = start_unseen(words, self._environment)
            if not self._is_rank:
                allow_ptrace(process)
            wait_for_unseen(process)
        except Exception as failed:  # noqa: BLE001  (no memory, say: the program's own exception is what counts)
            say(f"no report: {str(failed) or type(failed).__name__}")
        finally:
            os.close(descriptor)


def begin_spawned(reported: str) -> None:
    """In a child of ``multiprocessing``: be told of its crashes, of a sanitizer's errors, and of its children's."""
    Reporter(decode(Reported, json.loads(reported), "the report")).begin()
    if {"LD_PRELOAD", "PYHARNESS_SANITIZER"} <= os.environ.keys():
        from pyharness.debuggee.entries.sanitized import begin

        begin()


def _words(program: str, reported: Reported) -> list[str]:
    python = Harness.python or sys.executable
    return [python, "-I", _START, program, json.dumps(encode(reported))]


def _first_again(function: Callable[..., Any], *, leaves: bool = False) -> Callable[..., Any]:
    """A function that takes the handlers of crashes, or ``leaves`` them: we are told first, while the stack stands."""

    @functools.wraps(function)
    def calls(*arguments: Any, **named: Any) -> Any:
        from pyharness.native.crash_watch import renew_crash_watch

        try:
            return function(*arguments, **named)
        finally:
            renew_crash_watch(alone=leaves)

    return calls


def _stay_first_in_workers(module: ModuleType) -> None:
    """A data loader's worker handles crashes itself, and says a line of them."""
    theirs = getattr(module, "_set_worker_signal_handlers", None)
    if theirs is not None:
        module.__dict__["_set_worker_signal_handlers"] = _first_again(theirs)
