"""The twelve bugs: the calls by which a client without a model finds each, and what gdb and pdb say of the same."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PROGRAMS = Path(__file__).parent / "programs"
SCRIPT = PROGRAMS / "bugs.py"
LIBRARY = "BUGS_LIBRARY"
MOST_CALLS, MOST_TOKENS = 6, 6000
_CHARACTERS = 3
"""Characters of a token: code and paths have fewer than prose."""
_RANKS = 3
_HANGS = 1.0
"""Seconds after which a program that has said that it is about to hang does."""


@dataclass(frozen=True)
class Task:
    """One bug."""

    name: str
    calls: tuple[tuple[str, dict[str, Any]], ...]
    peer: tuple[tuple[str, ...], ...]
    """Command lines of gdb and of pdb; ``SCRIPT`` is the program and its argument, ``PIDS`` a running one's id."""
    starts: str = ""
    """What runs already: ``one`` process, or a ``job``."""

    @property
    def place(self) -> str:
        """``FILE:LINE`` of the planted line."""
        return next(found for found in _places(self.name))


def tokens(text: str) -> int:
    """How many a text has, about."""
    return len(text) // _CHARACTERS


def _places(name: str) -> Iterator[str]:
    for path in (PROGRAMS / "bugs.c", SCRIPT):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if f"planted: {name}" in line:
                yield f"{path.name}:{number}"


def build(library: Path) -> None:
    """Compile the native half."""
    include = f"-I{sysconfig.get_paths()['include']}"
    flags = ["-g", "-O0", "-fPIC", "-shared", "-pthread", include]
    subprocess.run(["cc", *flags, str(PROGRAMS / "bugs.c"), "-o", str(library)], check=True)


def _program(name: str) -> dict[str, Any]:
    return {"script": SCRIPT.name, "cwd": str(PROGRAMS), "args": [name]}


def _start(name: str, *places: str) -> tuple[str, dict[str, Any]]:
    return "start", {**_program(name), "breakpoints": list(places)}


def _names(what: str, *names: str, **more: Any) -> tuple[str, dict[str, Any]]:
    return "check", {"what": what, "cwd": str(PROGRAMS), "names": [f"{SCRIPT.name}:{each}" for each in names], **more}


def _gdb(*commands: str) -> tuple[str, ...]:
    said = [
        word
        for each in ("set debuginfod enabled off", "set breakpoint pending on", *commands)
        for word in ("-ex", each)
    ]
    return ("gdb", "-nx", "-batch", *said, "--args", sys.executable, "SCRIPT")


def _pdb(*commands: str) -> tuple[str, ...]:
    said = [word for each in (*commands, "q") for word in ("-c", each)]
    return (sys.executable, "-m", "pdb", *said, "SCRIPT")


_ATTACHED = ("gdb", "-nx", "-batch", "-ex", "set debuginfod enabled off", "-ex", "thread apply all bt", "-p", "PIDS")
_COUNTED = ("look", {"expressions": ["py:__import__('sys').getrefcount(value)"]})
_FAULTS = (sys.executable, "-X", "faulthandler", "SCRIPT")
_NEXT = ("go", {"how": "over"})
TASKS = (
    Task("null", (("check", {**_program("null"), "what": "crash"}),), (_gdb("run", "bt full"), _FAULTS)),
    Task(
        "stride",
        (_start("stride", "native:column_sum"), ("go", {"how": "over", "count": 2}), ("look", {"show": ["locals"]})),
        (_gdb("break column_sum", "run", "bt", "next", "next", "info locals", "info args"),),
    ),
    Task(
        "race",
        (
            _start("race", "native:count"),
            ("breakpoints", {"watch": ["counter"], "remove": [1]}),
            ("go", {}),
            ("go", {}),
        ),
        (_gdb("break count", "run", "watch counter", "delete 1", "continue", "bt", "continue", "bt"),),
    ),
    Task("deadlock", (("stack", {"process": "PIDS"}),), (_ATTACHED,), starts="one"),
    Task(
        "nan",
        (("check", {**_program("nan"), "what": "nan"}),),
        (_pdb("b nan", "c", "n", "n", "p x", "n", "p shifted", "n", "p logs", "w"),),
    ),
    Task(
        "gradient",
        (
            _names("verify", "Cubes", "in_torch", inputs=f"{SCRIPT.name}:of_cubes", gradients=True),
            _start("gradient", "native:cubes_backward"),
            _NEXT,
        ),
        (
            _pdb(
                "b gradient", "c", "n", "p torch.autograd.gradcheck(Cubes(), (of_cubes(),), raise_exception=False)", "w"
            ),
            _gdb("break cubes_backward", "run", "bt", "next", "info args"),
        ),
    ),
    Task(
        "pass",
        (_names("bisect", "Difference", "PASSES", inputs=f"{SCRIPT.name}:of_doubles"),),
        (_pdb("b bugs.py:1", "p fx.symbolic_trace(Difference()).graph", "w", "l 1, 220"),),
    ),
    Task(
        "kernel",
        (
            _names("verify", "Doubles", "in_torch", inputs=f"{SCRIPT.name}:of_doubles"),
            _start("kernel", "native:doubled"),
            ("look", {"show": ["locals"]}),
        ),
        (_gdb("break doubled", "run", "bt", "info args", "next", "next", "finish"),),
    ),
    Task(
        "recompilations",
        (("graph", {**_program("recompilations"), "what": "compiled"}),),
        (("env", "TORCH_LOGS=recompiles,guards", sys.executable, "SCRIPT"),),
    ),
    Task(
        "worker",
        (("check", {**_program("worker"), "what": "crash"}),),
        (_gdb("set follow-fork-mode child", "run", "bt full"), _FAULTS),
    ),
    Task(
        "leak",
        (_start("leak", "native:keep"), _COUNTED, _NEXT, _COUNTED),
        (_gdb("break keep", "run", "bt", "p value->ob_refcnt", "next", "p value->ob_refcnt"),),
    ),
    Task("rank", (("stack", {"ranks": "PIDS"}),), (_ATTACHED,), starts="job"),
)


@contextmanager
def running(task: Task, library: Path) -> Iterator[list[str]]:
    """The process ids of what a task needs running; they end with the block."""
    environment = {**os.environ, LIBRARY: str(library), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, str(SCRIPT), task.name]
    started: list[subprocess.Popen[str]] = []
    count = {"": 0, "one": 1, "job": _RANKS}[task.starts]
    if task.starts == "job":
        environment |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(_free_port()), "WORLD_SIZE": str(count)}
    try:
        for rank in range(count):
            more = {"RANK": str(rank), "LOCAL_RANK": str(rank)} if task.starts == "job" else {}
            started.append(subprocess.Popen(command, env=environment | more, stdout=subprocess.PIPE, text=True))
        for each in started:
            if not (each.stdout and each.stdout.readline()):
                raise RuntimeError("It ended before it hung.")
        time.sleep(_HANGS if started else 0)
        yield [str(each.pid) for each in started]
    finally:
        for each in started:
            each.kill()
            each.communicate()


def _free_port() -> int:
    import socket

    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def find(task: Task, pids: list[str], call: Callable[[str, dict[str, Any]], str]) -> list[str]:
    """The texts of all answers, until one names the planted line; ``call`` calls a tool."""
    texts: list[str] = []
    for tool, arguments in task.calls:
        texts.append(call(tool, {key: pids[0] if value == "PIDS" else value for key, value in arguments.items()}))
    return texts
