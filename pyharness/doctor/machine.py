"""What the checks of an installation look at; what takes long is asked at once, side by side."""

from __future__ import annotations

import subprocess
import sys
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from pyharness.doctor.asking import ask, source
from pyharness.doctor.registry import Registry, UnansweredError
from pyharness.gdbmi.client import NO_CORE, find_gdb
from pyharness.model.errors import HarnessError

if TYPE_CHECKING:
    from collections.abc import Callable

_REPORT = Path(__file__).resolve().parent.parent / "ingdb" / "checkup.py"
_ATTEMPT = Path(__file__).with_name("system") / "ptrace_attempt.py"
_WORKERS = 16
_INSTALL = "Mend it there, or name the interpreter of your program with --python."

Answer = dict[str, Any]
Said = TypeVar("Said")


class NoTorchError(HarnessError):
    """The program's interpreter has no torch, which only programs that use it need."""


@dataclass(frozen=True)
class Wanted:
    """What a person asked to be looked at."""

    project: Path = field(default_factory=Path.cwd)
    python: str = sys.executable
    extensions: tuple[str, ...] = ()
    """Files and modules; those of the project where none is named."""


@dataclass(frozen=True)
class Gdb:
    """A gdb, as far as it runs."""

    path: str
    version: str
    """Empty where it does not run."""
    said: str
    """The first line that ``--version`` prints."""


class Machine:
    """The installation that is looked at. What other programs say is asked once, on threads.

    The answers raise ``HarnessError`` where there is none, for the one check that reports it; others ask ``answered``.
    """

    def __init__(self, wanted: Wanted) -> None:
        self.wanted = wanted
        self.pool = ThreadPoolExecutor(_WORKERS, thread_name_prefix="pyharness-doctor")
        self._lock = threading.Lock()
        self._asked: dict[str, Future[Any]] = {}

    def begin(self) -> None:
        """Ask everything at once, what takes longest first."""
        for ask_it in (self._ask_torch, _find_gdb, self._ask_gdb, self._ask_python, try_ptrace):
            self._later(ask_it)

    def _later(self, ask_it: Callable[[], Said]) -> Future[Said]:
        with self._lock:
            if ask_it.__name__ not in self._asked:
                self._asked[ask_it.__name__] = self.pool.submit(ask_it)
            return self._asked[ask_it.__name__]

    @property
    def gdb(self) -> Gdb:
        """Which gdb is used."""
        return self._later(_find_gdb).result()

    @property
    def in_gdb(self) -> Answer:
        """What gdb's own Python says (``ingdb/checkup.py``)."""
        return self._later(self._ask_gdb).result()

    @property
    def python(self) -> Answer:
        """What the user's interpreter is (``interpreter_report.py``)."""
        return self._later(self._ask_python).result()

    @property
    def torch(self) -> Answer:
        """What torch is, and our extension beside it (``torch_report.py``)."""
        return self._later(self._ask_torch).result()

    @property
    def ptrace(self) -> Answer:
        """What came of attaching to processes of our own (``ptrace_attempt.py``)."""
        return self._later(try_ptrace).result()

    @property
    def torch_libraries(self) -> Path | None:
        """The folder of torch's libraries, found without importing torch."""
        file = answered(lambda: self.python)["packages"]["torch"]["file"]
        folder = Path(file).resolve().parent / "lib" if file else None
        return folder if folder and folder.is_dir() else None

    def _ask_python(self) -> Answer:
        modules = [name for name in self.wanted.extensions if not is_file_name(name)]
        return self._run("entries/interpreter_report.py", str(self.wanted.project.resolve()), *modules)

    def _ask_torch(self) -> Answer:
        answer = self._run("entries/torch_report.py")
        if answer["absent"]:
            raise NoTorchError(f"torch is not installed in {self.wanted.python}.", "")
        if answer["error"]:
            raise HarnessError(f"torch cannot be imported: {answer['error']}", _INSTALL)
        return answer

    def _run(self, probe: str, *arguments: str) -> Answer:
        remedy = "Name the interpreter that runs your program with --python."
        return ask([self.wanted.python, "-c", source(probe), *arguments], self.wanted.project, remedy)

    def _ask_gdb(self) -> Answer:
        return ask([self.gdb.path, "-nx", "-q", *NO_CORE, "-batch", "-x", str(_REPORT)])


machine_checks: Registry[Machine] = Registry()


def answered(ask_it: Callable[[], Said]) -> Said:
    """An answer that another check reports the lack of; ``UnansweredError`` where there is none."""
    try:
        return ask_it()
    except HarnessError as error:
        raise UnansweredError(f"Nothing to look at: {error.message}") from error


def is_file_name(extension: str) -> bool:
    """Whether an extension is named by its file rather than as a module."""
    return "/" in extension or extension.endswith(".so")


def try_ptrace() -> Answer:
    """Attach to processes of our own for real, from a process of its own."""
    return ask([sys.executable, "-I", "-S", str(_ATTEMPT)])


def _find_gdb() -> Gdb:
    path = find_gdb()
    try:
        ended = subprocess.run(
            [path, "-nx", "--version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=20,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise HarnessError(f"{path} does not run: {error}", "Install gdb anew.") from error
    said = (ended.stdout or ended.stderr).partition("\n")[0].strip()
    return Gdb(path, said.rpartition(" ")[2] if ended.returncode == 0 else "", said)
