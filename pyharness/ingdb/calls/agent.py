"""Asks the agent in the program: a call on the stopped thread, with or without the GIL (see ``debuggee/agent.py``)."""

from __future__ import annotations

import json
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, ClassVar

import gdb

from pyharness.ingdb import console, passing
from pyharness.ingdb.calls import guarded_call, safe_point
from pyharness.ingdb.process import libraries
from pyharness.ingdb.settings import temporarily
from pyharness.ingdb.stack import backtrace
from pyharness.model.codec import MalformedError
from pyharness.model.errors import HarnessError
from pyharness.protocol.agent import MESSAGE_SIZE, Doorway, Evaluate, RefusedError, UnknownError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyharness.protocol.agent import Request
    from pyharness.protocol.question import Answer

_LIBRARY = "_trap."
"""How the file name of the library with the agent begins."""
_SEVERAL = 2


class _Told:
    """What the controller knows of the program, of which there is one in a gdb."""

    doorway: ClassVar[Doorway | None] = None


_NOT_ASKED = "gdb cannot ask this program about its Python side."
_START = "Start it with ph-run, or as `python -m pyharness.debuggee SCRIPT`."


class NoAgentError(HarnessError):
    """The program has no agent: it was not started by the harness, or not got that far."""


class AgentGoneError(NoAgentError):
    """The program had an agent: its interpreter has ended, or is about to."""

    def __init__(self) -> None:
        super().__init__("The program's agent is gone: its interpreter is shutting down.")


def tell(doorway: Doorway | None) -> None:
    """The program's agent is asked there; where nobody says so, its library has symbols."""
    _Told.doorway = doorway


def read_symbols() -> bool:
    """Have gdb read the agent's library, a small one; whether the program has loaded it."""
    if _has_symbols():
        return True
    library = libraries.find_library(_LIBRARY)
    return library is not None and libraries.load_symbols(library) and _has_symbols()


def call(request: Request[Answer]) -> Answer:
    """The agent's answer to ``request``, from the selected thread, which must be stopped.

    ``NoAgentError`` where the program has none, ``HarnessError`` where the agent refuses or the call is cut short.
    """
    try:
        return request.answer_in(call_with(request.written()))
    except UnknownError as error:
        raise NoAgentError(_NOT_ASKED, _START) from error
    except RefusedError as error:
        raise HarnessError(f"The program refused {request.tag!r}: {error}") from error
    except MalformedError as error:
        raise HarnessError(f"The program runs another version of pyharness: {error}.") from error


def call_with(request: dict[str, Any]) -> dict[str, Any]:
    """What the agent says to a request, both as ``protocol.agent`` writes them."""
    doorway = _doorway()
    text = json.dumps(request).encode() + b"\0"
    if len(text) > MESSAGE_SIZE:
        raise HarnessError(f"The request is too long for the agent: {len(text)} bytes.")
    safe_point.reach()
    memory = gdb.selected_inferior()
    memory.write_memory(doorway.request, text)
    memory.write_memory(doorway.answer, b"\0")
    # In non-stop mode gdb lets no other thread of those that stand run for a call, whatever its settings.
    alone = None if gdb.parameter("non-stop") else _is_only_python_thread()
    with _no_breakpoints(request.get("do") == Evaluate.tag):
        gone = _call(doorway.call, alone=alone)
    return _answer(gone)


def end_call() -> dict[str, Any]:
    """What the agent says to a call that gdb gave up; its thread is selected, and has stopped since."""
    gone = guarded_call.end()
    if gone is None:
        raise HarnessError("The call into the program did not return.", "Look at the stops of its threads.")
    return _answer(gone)


def _answer(gone: int) -> dict[str, Any]:
    text = "" if gone else _text(_doorway().answer)
    if not text:
        raise AgentGoneError
    answer: dict[str, Any] = json.loads(text)
    return answer


def _doorway() -> Doorway:
    if _Told.doorway is not None:
        return _Told.doorway
    if not read_symbols():
        raise NoAgentError(_NOT_ASKED, _START)
    return Doorway(*map(_address, ("pyharness_agent", "pyharness_request", "pyharness_answer")))


def _is_only_python_thread() -> bool:
    """Whether the selected thread holds the GIL and no other can have asked for it.

    Where one has, the interpreter hands it over at the next chance, and goes on only when the other has had it.
    """
    if not _call(_address("pyharness_holds_gil"), alone=True):
        return False
    python = backtrace.current_python()
    return python is None or len(python.threads()) < _SEVERAL


def _has_symbols() -> bool:
    try:
        console.c_value("(long)&pyharness_agent")
    except gdb.error:
        return False
    return True


def _address(symbol: str) -> int:
    return int(console.c_value(f"(long)&{symbol}"))


def _text(address: int) -> str:
    raw = bytes(gdb.selected_inferior().read_memory(address, MESSAGE_SIZE))
    return raw.partition(b"\0")[0].decode(errors="replace")


def _call(function: int, *, alone: bool | None) -> int:
    """Call ``int function(void)`` at an address; ``alone`` keeps other threads where they are, ``None``: gdb's way."""
    locking = nullcontext() if alone is None else temporarily("scheduler-locking", "on" if alone else "off")
    with locking:
        try:
            return guarded_call.call(function)
        except gdb.error as error:
            raise HarnessError(f"The call into the program did not return: {error}") from error


@contextmanager
def _no_breakpoints(wanted: bool) -> Iterator[None]:  # noqa: FBT001  (a condition, not an option)
    """Breakpoints are off for the time of a call that runs the person's own code: it must come back."""
    if wanted and gdb.parameter("non-stop"):  # other threads run on and must keep stopping
        with passing.by_selected_thread():
            yield
        return
    enabled = [each for each in gdb.breakpoints() if each.enabled] if wanted else []
    for each in enabled:
        each.enabled = False
    try:
        yield
    finally:
        for each in enabled:
            if each.is_valid():
                each.enabled = True
