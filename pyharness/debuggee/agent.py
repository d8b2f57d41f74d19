"""The agent: answers what gdb asks, on the stopped thread itself, whether that thread holds the GIL or not.

gdb writes a request of ``protocol.agent`` into ``pyharness_request``, calls ``pyharness_agent`` on the stopped thread
and reads ``pyharness_answer``.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any, TypeVar

from pyharness.debuggee import doorway
from pyharness.debuggee.pydevd.emptied_modules import KEPT_MODULES
from pyharness.host import recursion
from pyharness.model.codec import MalformedError, encode
from pyharness.model.errors import nearest
from pyharness.model.text.visible import say
from pyharness.protocol.agent import Doorway, Request

if TYPE_CHECKING:
    from collections.abc import Callable

AnyRequest = TypeVar("AnyRequest", bound=Request[Any])
_HANDLERS: dict[str, Callable[[Any], Any]] = {}


def handles(request: type[AnyRequest]) -> Callable[[Callable[[AnyRequest], Any]], Callable[[AnyRequest], Any]]:
    """Register a function as the handler of a request; a second one for it is a mistake of ours."""

    def register(handler: Callable[[AnyRequest], Any]) -> Callable[[AnyRequest], Any]:
        if request.tag in _HANDLERS:
            first = _HANDLERS[request.tag]
            raise ValueError(f"two handlers for {request.tag!r}: {first.__module__} and {handler.__module__}")
        _HANDLERS[request.tag] = handler
        return handler

    return register


def begin() -> Doorway:
    """Let gdb ask from now on: through the native half of pyharness, or without it; ``OSError`` where it cannot."""
    try:
        from pyharness import _trap
    except ImportError as lack:
        try:
            return doorway.open_to(answer)
        except OSError as error:
            raise OSError(f"{_of_another_python(lack)}, and its agent cannot do without: {error}") from error
    _trap.set_agent(answer)
    addresses = _trap.addresses()
    return Doorway(addresses["call"], addresses["request"], addresses["answer"])


def _of_another_python(lack: ImportError) -> str:
    return f"pyharness's native half is not built for Python {sys.version.split()[0]} ({lack})"


def start() -> bool:
    """Let gdb ask from now on and stop at Python lines; whether it can.

    Without the native half of pyharness it cannot: the program still runs, and this says so on stderr.
    """
    try:
        from pyharness import _trap
    except ImportError as error:
        say(
            f"native half not loaded ({error}); gdb cannot stop this program at Python lines.\n"
            "Build it with `make debug-build`, or install pyharness for this Python."
        )
        return False
    _trap.set_agent(answer)
    return True


def answer(text: str) -> str:
    """The JSON answer to a JSON request; it never raises, because a stopped thread has nowhere to raise to."""
    KEPT_MODULES.put_back()
    try:
        with recursion.room():
            reply = _dispatch(json.loads(text))
    except Exception as error:  # noqa: BLE001  (the error is the answer)
        reply = {"error": f"{type(error).__name__}: {error}"}
    return json.dumps(reply)


def _dispatch(said: Any) -> dict[str, Any]:
    name = said.pop("do", None) if isinstance(said, dict) else None
    if not isinstance(name, str):
        return {"error": 'a request is an object {"do": NAME, ...}'}
    handler = _HANDLERS.get(name)
    if handler is None:
        return {"error": f"unknown request {name!r}. {nearest(name, _HANDLERS)}".rstrip(), "unknown": True}
    try:
        request = Request.known[name].from_json(said)
    except MalformedError as error:
        return {"error": str(error)}
    return {"answer": encode(handler(request))}
