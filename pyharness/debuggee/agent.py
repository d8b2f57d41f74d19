"""The agent: answers what gdb asks, on the stopped thread itself, whether that thread holds the GIL or not.

gdb writes a JSON request into ``pyharness_request``, calls ``pyharness_agent`` on the stopped thread and reads
``pyharness_answer``. A request is ``{"do": NAME, ...}``; an answer is what the handler of NAME returned, or
``{"error": MESSAGE}``. Nothing in a request is ever executed as code, except the expression of ``evaluate``, which the
user typed.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from pyharness.model.errors import nearest
from pyharness.model.visible import say

if TYPE_CHECKING:
    from collections.abc import Callable

    Handler = Callable[[dict[str, Any]], dict[str, Any]]

_HANDLERS: dict[str, Handler] = {}


def handles(name: str) -> Callable[[Handler], Handler]:
    """Register a function as the handler of ``{"do": name}``; a second one for a name is a mistake of ours."""

    def register(handler: Handler) -> Handler:
        if name in _HANDLERS:
            raise ValueError(f"two handlers for {name!r}: {_HANDLERS[name].__module__} and {handler.__module__}")
        _HANDLERS[name] = handler
        return handler

    return register


def start() -> dict[str, int] | None:
    """Let gdb ask from now on: the addresses ``call``, ``request`` and ``answer``, and the ``size`` of the buffers.

    Without the native half of pyharness the program still runs: this then says so on stderr and returns ``None``.
    """
    try:
        from pyharness import _trap
    except ImportError as error:
        say(
            f"native half not loaded ({error}); gdb cannot stop this program at Python lines.\n"
            "Build it with `make debug-build`, or install pyharness for this Python."
        )
        return None
    _trap.set_agent(answer)
    return _trap.addresses()


def answer(text: str) -> str:
    """The JSON answer to a JSON request; it never raises, because a stopped thread has nowhere to raise to."""
    try:
        reply = _dispatch(json.loads(text))
    except Exception as error:  # noqa: BLE001  (the error is the answer)
        reply = {"error": f"{type(error).__name__}: {error}"}
    return json.dumps(reply)


def _dispatch(request: Any) -> dict[str, Any]:
    name = request.get("do") if isinstance(request, dict) else None
    if not isinstance(name, str):
        return {"error": 'a request is an object {"do": NAME, ...}'}
    handler = _HANDLERS.get(name)
    if handler is None:
        return {"error": f"unknown request {name!r}. {nearest(name, _HANDLERS)}".rstrip()}
    return handler(request)
