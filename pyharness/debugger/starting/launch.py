"""Starts the user's program with the harness beside it, and holds our end of the control channel."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
from dataclasses import field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from pyharness.debugger.starting import small_limits
from pyharness.debugger.starting.child_processes import ChildProcesses
from pyharness.debugger.starting.interpreter import check_version
from pyharness.debugger.starting.unanswered import Unanswered
from pyharness.host.descriptors import streams_held
from pyharness.host.forks import blind, own
from pyharness.host.missing import check_folder, check_module, check_script, no_interpreter
from pyharness.host.module_file import module_file
from pyharness.host.process_state import descendants
from pyharness.host.surroundings import Surroundings
from pyharness.model.application import is_application
from pyharness.model.errors import HarnessError, UsageError
from pyharness.model.frozen import frozen
from pyharness.model.text.python_code import compiled
from pyharness.protocol.channel import answer_line, messages

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pyharness.protocol.channel import Go, Hello, Message, Welcome

PACKAGE = Path(__file__).parents[2]
START = PACKAGE / "debuggee" / "start.py"
_PATIENCE = 2.0


@frozen
class Command:
    """What to run: a script or a module, under which Python, where, and with what output."""

    script: str
    arguments: Sequence[str] = ()
    module: bool = False
    python: str = ""
    """Interpreter of the program; this one when empty."""
    cwd: str | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    """Added to this process's environment."""
    stdout: IO[Any] | int | None = None
    stderr: IO[Any] | int | None = None
    stdin: IO[Any] | int | None = None
    pass_fds: Sequence[int] = ()
    """Descriptors that it gets beside its streams."""
    children: bool = False
    """Whether child processes shall call in; see ``ChildProcesses``."""
    ranks: tuple[int, ...] | None = None
    """The ranks of a job that shall, of all that it starts; none of them for all, ``None`` for every child."""
    child_wait: float = 10.0
    """Seconds that a child waits for its debugger."""
    apart: bool = False
    """Whether it gets a session of its own: no key of our terminal is a signal to it."""
    unset: tuple[str, ...] = ()
    """Variables that it does not get of this process's environment."""
    debug_kernels: bool = False
    """Whether torch.compile is to build the kernels that it compiles from now on for debugging."""
    overwritten: bool = False
    """Whether the program stops where it writes into a tensor that autograd saved."""
    ours: bool = True

    def start(self, on_message: Callable[[Message[Any]], None], on_exit: Callable[[int], None]) -> Launched:
        """Start it; it waits for the answers to what it says."""
        return Launched(self, on_message, on_exit)

    @property
    def file(self) -> str:
        """The script, or the module's file as far as it is found without an import, as its path is from here."""
        if self.module:
            return module_file(self.script, self.cwd, self.python, self.env)
        return str(Path(self.cwd, self.script)) if self.cwd else self.script

    def files(self) -> list[str]:
        """The script, where it is one, as its path is from here."""
        return [] if self.module else [str(Path(self.cwd or ".", self.script))]

    def check(self) -> None:
        """Raise what can be said before anything is started."""
        self._check_surroundings()
        if self.python and shutil.which(self.python) is None:
            raise no_interpreter(self.python)
        version = check_version(self.python) if self.python else sys.version_info[:2]
        if self.module:
            check_module(self.script)
            return
        path = check_script(self.script, Path(self.cwd or "."))
        if path.name.endswith(".pyc") or is_application(path):
            return
        if version == sys.version_info[:2]:  # what another Python compiles, it alone can say
            self._check_compiles(path)

    def _check_compiles(self, path: Path) -> None:
        try:
            compiled(path.read_bytes(), str(path))
        except (MemoryError, RecursionError):
            return  # how deeply a source may be nested is the program's Python to say, where it starts
        except (SyntaxError, ValueError) as error:
            line = getattr(error, "lineno", None)
            remedy = f"See line {line}." if line else "Name a Python file."
            raise UsageError(f"{self.script} does not compile: {error}", remedy) from error

    def _check_surroundings(self) -> None:
        if self.cwd is not None:
            check_folder(self.cwd)
        if any("\0" in word for word in (self.script, *self.arguments, self.python, *self.env, *self.env.values())):
            raise UsageError("A NUL character cannot be given to a program.", "Look at its arguments and environment.")
        if wrong := [name for name in self.env if not name or "=" in name]:
            raise UsageError(
                f"{wrong[0]!r} cannot be the name of an environment variable.",
                "Such a name is not empty and has no equals sign.",
            )


class Launched:
    """The running program; ``on_message`` and ``on_exit`` are called on threads of this object.

    ``on_message`` gets each message of the control channel; the program waits until ``answer`` is called.
    """

    def __init__(
        self, command: Command, on_message: Callable[[Message[Any]], None], on_exit: Callable[[int], None]
    ) -> None:
        stem = Path(command.script).stem
        door = (on_message, command.child_wait, stem, command.ranks)
        self.children = ChildProcesses(*door) if command.children else None
        with streams_held():
            ours, theirs = socket.socketpair()
            self._debugpy, debugpys = socket.socketpair()
            self._stream = ours.makefile("rwb")
            self._socket = ours
            self._unanswered = Unanswered()
            with theirs, debugpys:
                self._process = self._spawn(command, theirs.fileno(), debugpys.fileno())
        own(self)
        self._pid = self._process.pid
        self.packages = packages()
        """Where the program finds our packages."""
        self.surroundings = Surroundings(self.pid)
        self.exit_code: int | None = None
        self.exit_known = True
        self._threads = [
            threading.Thread(target=self._read, args=(on_message,), name="pyharness-channel", daemon=True),
            threading.Thread(target=self._wait, args=(on_exit,), name="pyharness-exit", daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    @staticmethod
    def _spawn(command: Command, channel: int, debugpy: int) -> subprocess.Popen[bytes]:
        python = command.python or sys.executable
        arguments = [python, "-X", "frozen_modules=off", str(START), "debug"]
        arguments += ["--channel", str(channel), "--debugpy", str(debugpy)]
        if command.module:
            arguments.append("-m")
        given = {**os.environ, **command.env}
        env = {name: value for name, value in given.items() if name not in command.unset}
        # It hears of Ctrl-C from the script's first line on: what comes before is ours, and we end it (see debuggee).
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            return subprocess.Popen(
                [*arguments, command.script, *command.arguments],
                pass_fds=[channel, debugpy, *command.pass_fds],
                cwd=command.cwd,
                env=env,
                stdout=command.stdout,
                stderr=command.stderr,
                stdin=command.stdin,
                start_new_session=command.apart,
            )
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    @property
    def pid(self) -> int:
        """Process id of the program; a script that stands for Python may run it as its child."""
        return self._pid

    def debugpy(self, hello: Hello) -> socket.socket:
        """Our end of the pair that the program inherited."""
        if hello.pid != self._pid and hello.pid in self._family():
            self._pid = hello.pid
            self.surroundings = Surroundings(self._pid)
        return self._debugpy

    def _family(self) -> list[int]:
        """What it started in its own process group."""
        started = self._process.pid
        return descendants(started, os.getpgid(started)) if self._process.returncode is None else []

    def answer(self, answer: Welcome | Go, to: Message[Any]) -> None:
        """Let the program's thread that sent the message ``to`` go on."""
        with contextlib.suppress(OSError, ValueError):
            self._stream.write(answer_line(answer, self._unanswered.take(to)))
            self._stream.flush()

    def let_go(self) -> None:
        """End the conversation: the program undoes all that was done to it, and runs on."""
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_WR)

    def end(self, *, at_once: bool = False) -> None:
        """End the program: politely, then for certain; ``at_once`` where a debugger holds it and it could not hear.

        What it started in its own process group ends too: a worker that outlives its program serves nobody.
        """
        family = self._family()
        if not at_once and self._process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._pid, signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(timeout=2)
        self._process.kill()
        for pid in family:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)

    def wait(self) -> int:
        """Wait for the program's end; its exit code, negative for a signal."""
        self.exit_code = self._process.wait()
        return self.exit_code

    def close(self) -> None:
        """Give back the channel."""
        self.let_go()
        self._threads[0].join(_PATIENCE)  # the program hangs up when all is undone
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)  # one that hangs never does: who closed a stream that is read waits
        self._threads[0].join(_PATIENCE)
        if self.children:
            self.children.close()
            self.children = None
        for stream in (self._stream, self._socket, self._debugpy):
            with contextlib.suppress(OSError, ValueError):
                stream.close()

    def disown(self) -> None:
        """Forget it, in a forked child: the channel is its parent's."""
        blind([self._socket.fileno(), self._debugpy.fileno()])

    def _read(self, on_message: Callable[[Message[Any]], None]) -> None:
        for message, number in messages(self._stream):
            self._unanswered.add(message, number)
            on_message(message)

    def _wait(self, on_exit: Callable[[int], None]) -> None:
        on_exit(self._process.wait())


def packages() -> dict[str, str]:
    """Where our Python half and debugpy are, for a program whose Python has none."""
    spec = importlib.util.find_spec("debugpy")
    found = {"pyharness": str(PACKAGE.parent)}
    if spec is not None and spec.origin is not None:
        found["debugpy"] = str(Path(spec.origin).parent.parent)
    return found


def undebuggable(error: str, pid: int) -> HarnessError:
    """The error of a program that says why Python cannot be debugged in it."""
    said = f"Python cannot be debugged in this program: {error.removesuffix(': ')}"
    return HarnessError(said, small_limits.remedy(error, pid) or "`pyharness doctor` looks at debugpy.")


def missing_in(python: str, *, ran_before: bool = False) -> HarnessError:
    """The error of a program that ended before it said hello: its Python is too old, or something ended it.

    ``ran_before``: it is one that was attached to.
    """
    if ran_before:
        return HarnessError(
            "The program ended while pyharness came to it.",
            "What it said itself tells why; a launcher ends all ranks of a job as soon as one has failed.",
        )
    python = python or sys.executable
    return HarnessError(
        "The program ended before pyharness could connect to it.",
        f"Is {python} a Python 3.9 or newer, and what did it say? `pyharness doctor --python {python}` looks at it.",
    )
