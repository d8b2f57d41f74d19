"""The control channel: what a program says to the controller that debugs it, and what that answers.

On the wire a message is a line ``{"type": NAME, "id": N, FIELD: ...}``. The program waits until the controller has
written ``{"id": N, "answer": ...}``; a message whose answer is ``None`` is not answered. A program that was started
inherits its end of a socket pair; one that runs already is visited through the socket of its handle, where the visitor
first says a ``Greeting``.
"""

from __future__ import annotations

import json
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NoReturn, Optional

from pyharness.model.codec import MalformedError, decode, encode
from pyharness.model.errors import nearest
from pyharness.model.frozen import frozen
from pyharness.model.text.json_lines import parsed
from pyharness.protocol.agent import Doorway
from pyharness.protocol.question import Answer, Question

if TYPE_CHECKING:
    import socket
    from collections.abc import Iterable, Iterator

_MAX_GREETING = 4096


class Message(Question[Answer]):
    """What a program says."""

    def to_line(self, number: int = 0) -> bytes:
        """The message as it is written; ``number`` comes back with the answer."""
        return _line({"type": self.tag, "id": number, **self.to_json()})


class Greeting(Question[Answer]):
    """What a visitor says first."""

    def to_line(self) -> bytes:
        """The greeting as it is written."""
        return _line({"type": self.tag, **self.to_json()})


@frozen
class Children:
    """Where child processes of the program call in."""

    socket: str
    """Name of an abstract socket."""
    wait: float
    """Seconds that a child waits for its debugger."""
    parent: str
    """Name of the program that started it."""
    ranks: Optional[tuple[int, ...]] = None  # noqa: UP045  (CPython 3.9 evaluates it)
    """The ranks of a distributed job that are debugged, none of them for all; ``None`` where each child is."""


@frozen
class Welcome:
    """How the controller wants to debug the program."""

    packages: dict[str, str]
    """Folder of each package that the program may lack: ``pyharness``, ``debugpy``."""
    eval_timeout: float
    """Seconds that an expression may take."""
    include: tuple[str, ...] = ()
    """Globs of library code that counts as the user's (``model/user_code.py``)."""
    children: Optional[Children] = None  # noqa: UP045  (CPython 3.9 evaluates it)
    """``None`` where children are not to be debugged."""
    debug_kernels: bool = False
    """Whether torch.compile is to build the kernels that it compiles from now on for debugging."""
    overwritten: bool = False
    """Whether tensors that autograd saves are watched, from the import of torch on."""


@frozen
class Hello(Message[Welcome], name="hello"):
    """Who the program is: its first message."""

    pid: int
    agent: Optional[Doorway]  # noqa: UP045  (CPython 3.9 evaluates it)
    """Where gdb asks its agent."""
    lack: str
    """Why it has none."""
    guard: bool
    """Whether it has the trap guard."""
    stdlib: str
    """Folder of its standard library."""
    python: str
    """Version."""
    executable: str
    """The interpreter, for which an engine may have to be built; empty where Python is embedded."""
    key: str
    """What the second connection says, which is debugpy's."""
    rank: Optional[int] = None  # noqa: UP045  (CPython 3.9 evaluates it)
    """The rank of a job that it is, as far as it knows so far."""


@frozen
class Go:
    """The program may go on."""

    stop: bool = False
    """Whether the program stops: at its first line, or at the op or node that it asked about."""


@frozen
class Ready(Message[Go], name="ready"):
    """All that there is was told: the program stands before its first line, or runs already."""


@frozen
class FirstLibrary(Message[Go], name="first-library"):
    """The first native library of the user's is loaded next: its initializers run before ``Library`` tells of it."""

    path: str


@frozen
class Library(Message[Go], name="library"):
    """A native library was loaded."""

    path: str


@frozen
class AddedLibrary(Message[Go], name="added-library"):
    """A library that is neither the user's nor Python's own was loaded, such as torch's: it can crash."""

    path: str


@frozen
class Generated(Message[Go], name="generated"):
    """torch.fx or inductor made code, which has a file and a map of its lines."""

    file: str
    kernels: tuple[str, ...] = ()
    """The files of the kernels that a wrapper of inductor's calls; empty for other code."""


@frozen
class Unfiled(Message[Go], name="unfiled"):
    """Generated code could not be written to a file."""

    why: str


@frozen
class OpReached(Message[Go], name="op"):
    """A thread has come to an op or an autograd node that is a place."""

    place: str
    """The place, as ``agent.OpPlace.known_as``; empty for a breakpoint of the program's own."""
    thread: int
    """LWP."""
    trap: int
    """Address of the function that it calls next, if it is to stop."""


@frozen
class Ended(Message[Go], name="ended"):
    """The program's Python ends."""

    op_hints: dict[str, str]
    """For each place whose op or node torch does not know: an error, and the nearest names, in lines."""
    children: bool
    """Whether it has started other processes."""
    at_exit: tuple[str, ...]
    """Files of which code ran after the debugger's half in the program had ended, as functions of atexit do."""
    traced: bool
    """Whether it has called ``sys.settrace``, or ``threading``'s, which takes the debugger's trace function away."""
    compiled: bool
    """Whether torch.compile has compiled functions of it."""
    unwatched: str = ""
    """Why no op and no node was watched, though places at some were asked for: an error and its remedy in lines."""


@frozen
class Failed(Message[None], name="failed"):
    """Python cannot be debugged in this program."""

    error: str


@frozen
class Ends(Message[None], name="ends"):
    """A program that was visited ends: the connection goes with it."""


@frozen
class Exits(Message[None], name="exit"):
    """The exit code of a program that was visited, which only a parent hears otherwise."""

    code: int


@frozen
class Child(Message[None], name="child"):
    """A child process, at the door of ``Children``: it waits there until it was visited, or that is closed."""

    pid: int
    handle: str
    """Empty for a rank that is not debugged: it runs on."""
    name: str
    parent: int
    rank: Optional[int] = None  # noqa: UP045  (CPython 3.9 evaluates it)
    """The rank that it is, where ranks are debugged."""
    world: Optional[int] = None  # noqa: UP045  (CPython 3.9 evaluates it)
    """How many ranks there are, on all hosts; ``None`` where nothing says so."""


@frozen
class Busy(Message[None], name="busy"):
    """Another debugger is there already."""

    pid: int
    name: str


@frozen
class Visit(Greeting[None], name="visit"):
    """A debugger has come; the program's ``Hello`` follows, or ``Busy``."""

    name: str


@frozen
class Link(Greeting[None], name="debugpy"):
    """The connection is for debugpy: that of the debugger which has the key."""

    key: str


def message_in(line: bytes) -> tuple[Message[Any], int]:
    """The message that a line is, and its number; ``MalformedError`` names what is wrong with it."""
    said = _object(line)
    number = said.pop("id", 0)
    message: Message[Any] = _named(Message, said)
    return message, decode(int, number, f"{message.tag}.id")


def messages(lines: Iterable[bytes]) -> Iterator[tuple[Message[Any], int]]:
    """The messages of a program and their numbers, until it hangs up.

    A line that is none is told as ``Failed``, and ends it: what comes behind it cannot be trusted.
    """
    with suppress(OSError, ValueError):  # the connection was closed
        for line in lines:
            try:
                yield message_in(line)
            except MalformedError as error:  # noqa: PERF203  (each line is one)
                yield Failed(f"it says what this debugger does not understand: {error}"), 0
                return


def greeting_in(line: bytes) -> Greeting[None]:
    """The greeting that a line is; ``MalformedError`` names what is wrong with it."""
    greeting: Greeting[None] = _named(Greeting, _object(line))
    return greeting


def greeting_line(connection: socket.socket) -> bytes:
    """The first line, and nothing of what comes behind it: that is read by whom the connection is for."""
    line = b""
    while len(line) < _MAX_GREETING and not line.endswith(b"\n") and (byte := connection.recv(1)):
        line += byte
    return line


def answer_line(answer: Any, number: int) -> bytes:
    """The answer to the message with a number, as it is written."""
    return _line({"id": number, "answer": encode(answer)})


def answer_in(line: bytes) -> tuple[Any, int]:
    """The answer that a line is, for ``Message.read_answer``, and the number of its message."""
    said = _object(line)
    if said.keys() != {"id", "answer"}:
        raise MalformedError(f"an answer has an id and an answer, not {sorted(said)}")
    return said["answer"], decode(int, said["id"], "the id of an answer")


def _named(family: Any, said: dict[str, Any]) -> Any:
    name = said.pop("type", None)
    kind = family.known.get(name) if isinstance(name, str) else None
    return kind.from_json(said) if kind else _unknown(name, family.known)


def _unknown(name: object, known: dict[str, Any]) -> NoReturn:
    raise MalformedError(f"there is no message {name!r}. {nearest(str(name), known)}".rstrip())


def _object(line: bytes) -> dict[str, Any]:
    try:
        return parsed(line)
    except ValueError as error:
        raise MalformedError(f"a line is not a message: {error}") from error


def _line(said: dict[str, Any]) -> bytes:
    return json.dumps(said).encode() + b"\n"
