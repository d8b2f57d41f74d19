"""An exception that nobody has caught, as data: its frames with their variables. No code of the program's runs."""

from __future__ import annotations

import os
import reprlib
import sys
import traceback
from itertools import islice
from typing import TYPE_CHECKING, Any

from pyharness.debuggee.unpatched import threading
from pyharness.protocol.aftermath import Raised, RaisedFrame

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType, TracebackType

_OUTER, _INNER = 20, 40
"""Frames that are told of a recursion that has run away."""
_VARIABLES = 60
_LONGEST = 200
_HEADLINE, _TRACEBACK = 2000, 200_000
_PLAIN = (bool, int, float, complex, str, bytes, type(None), range, tuple, list, dict, set, frozenset)


def described(error: BaseException) -> Raised:
    """The exception, where it was raised, and how it came there."""
    frames = [_frame(frame, line) for frame, line in _through(error.__traceback__)]
    return Raised(
        os.getpid(),
        threading.get_native_id(),
        _headline(error),
        _cut("".join(traceback.format_exception(type(error), error, error.__traceback__)), _TRACEBACK),
        tuple(reversed(frames)),
    )


def _headline(error: BaseException) -> str:
    """Type and message; Python tells of a syntax error's place first, and of notes last."""
    compact: dict[str, Any] = (
        {} if sys.version_info < (3, 10) else {"compact": True}
    )  # else it asks what ``from None`` hides, too
    told = traceback.TracebackException(type(error), error, None, **compact)
    if hasattr(told, "__notes__"):
        told.__notes__ = None
    return _cut(list(told.format_exception_only())[-1].strip(), _HEADLINE)


def _cut(text: str, most: int) -> str:
    """Both ends of a text that nobody reads whole."""
    if len(text) <= most:
        return text
    return f"{text[: most // 2]}… {len(text) - most} more characters …{text[-(most // 2) :]}"


def _through(trace: TracebackType | None) -> list[tuple[FrameType, int]]:
    """Frames from the outermost on, each with its line."""
    found = []
    while trace is not None:
        found.append((trace.tb_frame, trace.tb_lineno))
        trace = trace.tb_next
    return [*found[:_OUTER], *found[-_INNER:]] if len(found) > _OUTER + _INNER else found


def _frame(frame: FrameType, line: int) -> RaisedFrame:
    code = frame.f_code
    variables = [
        (name, value)
        for name, value in frame.f_locals.items()
        if not (name.startswith("__") and name.endswith("__")) and not _is_definition(value)
    ]
    shown = tuple((name, text_of(value)) for name, value in variables[:_VARIABLES])
    return RaisedFrame(getattr(code, "co_qualname", code.co_name), code.co_filename, line or 0, shown)


def _is_definition(value: object) -> bool:
    """What a module has beside its values."""
    return isinstance(value, (type, type(sys), type(_is_definition), type(len)))


def text_of(value: Any) -> str:
    """A value as short text: a tensor with what it has, what Python itself can say, else its class alone."""
    kind = type(value)
    try:
        torch = sys.modules.get("torch")
        if torch is not None and isinstance(value, torch.Tensor):
            from pyharness.debuggee.shown import tensor

            return tensor.text(value)
        return _REPR.repr(value) if kind in _PLAIN else _class(kind)
    except Exception as error:  # noqa: BLE001  (whatever a tensor's class does)
        return f"<{kind.__name__}: {type(error).__name__}>"


def _class(kind: type) -> str:
    return f"<{kind.__module__}.{kind.__qualname__} object>"


class _OnlyPlain(reprlib.Repr):
    """Elements that are not Python's own are told by their class: their ``__repr__`` and ``__lt__`` are not called."""

    def repr1(self, x: Any, level: int) -> str:
        """Text of a value within others."""
        return super().repr1(x, level) if type(x) in _PLAIN else text_of(x)

    def repr_set(self, x: Any, level: int) -> str:
        """A set in its own order: ``reprlib`` sorts it."""
        return f"{{{self._some(x, level, self.maxset)}}}" if x else "set()"

    def repr_frozenset(self, x: Any, level: int) -> str:
        """A frozenset likewise."""
        return f"frozenset({{{self._some(x, level, self.maxfrozenset)}}})"

    def repr_dict(self, x: Any, level: int) -> str:
        """A dictionary in its own order."""
        pairs = (f"{self.repr1(key, level - 1)}: {self.repr1(value, level - 1)}" for key, value in x.items())
        return f"{{{_joined(pairs, len(x), self.maxdict) if level > 0 else '...'}}}"

    def _some(self, values: Any, level: int, most: int) -> str:
        return _joined((self.repr1(each, level - 1) for each in values), len(values), most) if level > 0 else "..."


def _joined(texts: Iterator[str], count: int, most: int) -> str:
    return ", ".join([*islice(texts, most), *(["..."] if count > most else [])])


_REPR = _OnlyPlain()
_REPR.maxstring = _REPR.maxother = _LONGEST
