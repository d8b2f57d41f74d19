"""Holds what a session file expects against what came."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from pyharness.model.plumbing import qualified_name
from pyharness.model.text.source_line import source_line
from pyharness.model.text.stack_format import function_text
from pyharness.model.transcript import Mismatch
from pyharness.session.matching import matches_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from pyharness.model.frames import Frame
    from pyharness.model.stops import Stop
    from pyharness.session.plan import Expectation

Value = str | int
NOWHERE = "(nothing)"


def check(expectation: Expectation, stop: Stop) -> tuple[Mismatch, ...]:
    """Everything in which ``stop`` is not as expected."""
    return (
        *_fields(expectation.fields, stop.frame, {"reason": stop.reason, "note": stop.note}),
        *_printed(expectation.printed, stop.printed),
        *_stack(expectation.stack, stop.stack),
    )


def check_ended(expectation: Expectation) -> tuple[Mismatch, ...]:
    """Check as ``check`` does, where the program ended instead: only ``reason = "ended"`` holds."""
    ended = "the program ended"
    wanted = {key: str(value) for key, value in expectation.fields.items() if (key, value) != ("reason", "ended")}
    wanted |= {f"printed.{expression}": pattern for expression, pattern in expectation.printed.items()}
    if expectation.stack:
        wanted["stack_contains"] = " ← ".join(describe(frame) for frame in expectation.stack)
    return tuple(Mismatch(key, text, ended) for key, text in wanted.items())


# --- one key each -----------------------------------------------------------------------------------------------------

FRAME_KEYS: dict[str, Callable[[Frame], Value | None]] = {
    "function": lambda frame: frame.function,
    "file": lambda frame: frame.file,
    "line": lambda frame: frame.line,
    "language": lambda frame: frame.language,
    "source": lambda frame: source_line(frame.file, frame.line),
    "fx.node": lambda frame: frame.fx.node if frame.fx else None,
    "fx.module": lambda frame: frame.fx.module if frame.fx else None,
    "fx.origin": lambda frame: frame.fx.origin if frame.fx else None,
    "autograd": lambda frame: frame.autograd.name if frame.autograd else None,
}
"""What can be expected of any frame."""
STOP_KEYS = ("reason", "note")
"""What else can be expected of a stop."""
PATTERNS = {"source", "note", "autograd"}
"""The keys whose text is searched for."""


def same_function(wanted: str, got: str) -> bool:
    """Whether ``got`` is the function ``wanted``, which may leave out arguments, namespaces and classes."""
    name = qualified_name(got).replace("anonymous::", "")
    return wanted in {got, *_tails(name, "::"), *_tails(name, ".")}


def same_file(wanted: str, got: str) -> bool:
    """Whether ``got`` is ``wanted`` or ends in it, folder by folder; ``*`` and ``?`` match within a path."""
    return fnmatchcase(got, wanted) or fnmatchcase(got, f"*/{wanted.removeprefix('./')}")


def _tails(name: str, separator: str) -> list[str]:
    parts = name.split(separator)
    return [separator.join(parts[start:]) for start in range(len(parts))]


def _matches(key: str, wanted: Value, got: Value | None) -> bool:
    if got is None:
        return False
    if key == "function":
        return same_function(str(wanted), str(got))
    if key == "file":
        return same_file(str(wanted), str(got))
    if key == "fx.origin":
        return str(got) == wanted or str(got).endswith(f"/{wanted}")
    if key in PATTERNS:
        return matches_text(str(wanted), str(got))
    return got == wanted


# --- the parts of a stop ----------------------------------------------------------------------------------------------


def _fields(wanted: Mapping[str, Value], frame: Frame, stop: Mapping[str, str]) -> Iterator[Mismatch]:
    for key, value in wanted.items():
        got = stop[key] if key in stop else FRAME_KEYS[key](frame)
        if not _matches(key, value, got):
            yield Mismatch(key, str(value), NOWHERE if got in {None, ""} else str(got))


def _printed(wanted: Mapping[str, str], got: Mapping[str, str]) -> Iterator[Mismatch]:
    for expression, pattern in wanted.items():
        text = got.get(expression, NOWHERE)
        if not matches_text(pattern, text):
            yield Mismatch(f"printed.{expression}", pattern, text)


def _stack(wanted: tuple[Mapping[str, Value], ...], stack: tuple[Frame, ...]) -> Iterator[Mismatch]:
    frames = iter(stack)
    for number, each in enumerate(wanted):
        if not any(not list(_fields(each, frame, {})) for frame in frames):
            before = f" (outside of {describe(wanted[number - 1])})" if number else ""
            yield Mismatch("stack_contains", describe(each) + before, _names(stack))
            return


def _names(stack: tuple[Frame, ...]) -> str:
    """The functions of a stack that a person wants to see, innermost first."""
    return " ← ".join(function_text(frame) for frame in stack if not frame.plumbing) or NOWHERE


def describe(frame: Mapping[str, Value]) -> str:
    """A wanted frame in a few words."""
    if set(frame) == {"function"}:
        return str(frame["function"])
    return ", ".join(f"{key} {value}" for key, value in frame.items())
