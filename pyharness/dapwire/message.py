"""Messages of the Debug Adapter Protocol, made and read: pure, and nothing that arrives does any harm."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, NoReturn, TypeAlias

Message: TypeAlias = dict[str, Any]

MAX_DEPTH = 100
"""The protocol nests a few levels; what nests deeper must not exhaust the Python stack of who handles it."""
_MOST_DIGITS = 300
"""Digits of a whole number at most: a float can still hold it, as whoever prints it may need."""


@dataclass(frozen=True)
class Malformed:
    """Bytes that are no message of the protocol; one stands for all of them up to the next message."""

    reason: str
    request_seq: int | None = None
    """The number of a request that can be answered although it is wrong."""
    command: str = ""
    """The command, as far as the message named one."""
    is_json: bool = True


class _NoMessageError(ValueError):
    """Why a body is no message, and as whose answer to say so."""

    def __init__(self, reason: str, request_seq: int | None = None, command: str = "", *, is_json: bool = True) -> None:
        super().__init__(reason)
        self.malformed = Malformed(reason, request_seq, command, is_json)


def request(seq: int, command: str, arguments: Message | None = None) -> Message:
    """A request."""
    return {"seq": seq, "type": "request", "command": command, "arguments": arguments or {}}


def response(seq: int, to: Message, body: Message | None = None) -> Message:
    """The answer to request ``to`` that succeeded."""
    message = {"seq": seq, "type": "response", "request_seq": to["seq"], "success": True, "command": to["command"]}
    return message if body is None else {**message, "body": body}


_LOOKING = "threads stackTrace scopes variables source locations modules loadedSources exceptionInfo"
_ASKING = "evaluate completions setVariable setExpression breakpointLocations dataBreakpointInfo gotoTargets"
_SHOWN_IN_PLACE = frozenset([*_LOOKING.split(), *_ASKING.split(), "readMemory", "disassemble", "stepInTargets"])
"""Requests whose errors the user must not be told of by a message of its own."""


def error(seq: int, to: Message | Malformed, message: str, remedy: str = "") -> Message:
    """The answer to request ``to`` that failed.

    A client shows in place what it had asked for itself, such as the variables of a frame that is gone by then.
    The text stands in ``format`` without variables: clients leave braces alone that no variable is given for.
    """
    number, command = (to.request_seq, to.command) if isinstance(to, Malformed) else (to["seq"], to["command"])
    text = f"{message}\n{remedy}" if remedy else message
    return {
        "seq": seq,
        "type": "response",
        "request_seq": number or 0,
        "success": False,
        "command": command,
        "message": message,
        "body": {"error": {"id": 1, "format": text, "showUser": command not in _SHOWN_IN_PLACE}},
    }


def event(seq: int, name: str, body: Message | None = None) -> Message:
    """An event."""
    message: Message = {"seq": seq, "type": "event", "event": name}
    return message if body is None else {**message, "body": body}


def encode(message: Message) -> bytes:
    """One framed message. ASCII only: a name that is no UTF-8 (a path read with surrogates) gets across too."""
    body = json.dumps(message, separators=(",", ":"), allow_nan=False).encode("ascii")
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


def parse(body: bytes) -> Message | Malformed:
    """The message that ``body`` is."""
    try:
        return _checked(_json(body))
    except _NoMessageError as error:
        return error.malformed


def _json(body: bytes) -> Any:
    numbers = _Numbers()
    try:
        text = body.decode("utf-8-sig")
        value = json.loads(text, parse_constant=numbers.nothing, parse_float=numbers.real, parse_int=numbers.whole)
    except RecursionError:
        raise _NoMessageError("A message that is nested too deeply.") from None
    except ValueError as error:  # UnicodeDecodeError and JSONDecodeError are ValueErrors
        raise _NoMessageError(f"A body that is not JSON: {error} in {shown(body)}.", is_json=False) from None
    if text.count("[") + text.count("{") > MAX_DEPTH and _nests_deeper(value, MAX_DEPTH):
        _refuse(value, "A message that is nested too deeply.")
    if numbers.unfit:  # the rest is read: who asked can be answered
        _refuse(value, f"{_short(numbers.unfit[0])} is not a number that a message can have.")
    return value


class _Numbers:
    """Reads the numbers of one message; those that it cannot have are kept in ``unfit``, and stand as nothing."""

    def __init__(self) -> None:
        self.unfit: list[str] = []

    def real(self, text: str) -> float | None:
        """A number with a fraction or an exponent: a finite one."""
        value = float(text)
        return value if value - value == 0 else self.nothing(text)

    def whole(self, text: str) -> int | None:
        """A number without a fraction: one that a float can hold, too."""
        return int(text) if len(text) <= _MOST_DIGITS else self.nothing(text)

    def nothing(self, text: str) -> Any:
        """What stands for a number that is none."""
        self.unfit.append(text)


def _refuse(message: Any, reason: str) -> NoReturn:
    """Refuse a message that is JSON, as an answer to it where it says who it is."""
    seq = message.get("seq") if isinstance(message, dict) and "command" in message else None
    command = _command(message) if isinstance(message, dict) else ""
    raise _NoMessageError(reason, seq if _is_number(seq) else None, command)


def _nests_deeper(value: Any, depth: int) -> bool:
    level = [value]
    for _ in range(depth):
        inner = [each.values() if isinstance(each, dict) else each for each in level]
        level = [item for each in inner for item in each if isinstance(item, dict | list)]
        if not level:
            return False
    return True


def _checked(message: Any) -> Message:
    """The message, or why whoever handles messages could not take it."""
    if not isinstance(message, dict):
        raise _NoMessageError("A message is an object.")
    kind = message.get("type")
    if kind == "request":
        return _request(message)
    if kind == "event" and isinstance(message.get("event"), str):
        return message
    if kind == "response" and _is_number(message.get("request_seq")):
        return message
    if kind in ("event", "response"):  # it may be unhashable: no set
        raise _NoMessageError(f"{'An event' if kind == 'event' else 'A response'} without a name.")
    _refuse(message, f"No type of message: {shown(kind)}.")  # most likely a request


def _request(message: Message) -> Message:
    seq, command = message.get("seq"), _command(message)
    if not _is_number(seq):
        raise _NoMessageError("A request without a number as its seq.", None, command)
    if not command:
        raise _NoMessageError("A request without a command.", seq)
    if message.get("arguments") is None or message["arguments"] == []:  # what a client in Lua makes of no arguments
        message.pop("arguments", None)
    if not isinstance(message.get("arguments", {}), dict):
        raise _NoMessageError("A request's arguments are an object.", seq, command)
    return message


def _command(message: Message) -> str:
    command = message.get("command")
    return command if isinstance(command, str) else ""


def _is_number(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def shown(value: Any) -> str:
    """A value in an error's text."""
    return _short(repr(value.decode("utf-8", "replace") if isinstance(value, bytes) else value))


def _short(text: str) -> str:
    return text if len(text) <= 80 else f"{text[:77]}..."
