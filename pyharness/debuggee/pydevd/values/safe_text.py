"""Texts of values that cannot be asked for one: ``__repr__`` or ``__class__`` raises, or an int has too many digits.

pydevd shows such a value without a word of that, or shows nothing but the exception where it lies in a container.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyharness.debuggee.bounded import told

if TYPE_CHECKING:
    from collections.abc import Iterable

_MOST_TOLD = 200
"""Characters of an exception in a value's place."""


class _Written:
    """What pydevd is given in place of a value: only its text is asked for."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text


def text_of(value: Any, *, within: bool = False) -> str:
    """``repr``; in its place the hexadecimal digits of an int that Python refuses to write, or what was raised.

    ``within``: the value is a part of another one, of which an exit in this part shall hide nothing.
    """
    try:
        return repr(value)
    except (Exception, SystemExit) as error:
        if isinstance(error, SystemExit) and not within:
            raise
        is_long = type(error) is ValueError and issubclass(type(value), int)
        return hex(value) if is_long else _placeholder(value, error)


def whole_text_of(value: Any) -> str:
    """``repr``, and of a container in which something has none, that of all the others."""
    try:
        return repr(value)
    except (Exception, SystemExit):  # noqa: BLE001  (the user's code may raise anything)
        from _pydevd_bundle.pydevd_safe_repr import SafeRepr

        return str(SafeRepr()(value))


def kind_of(value: Any) -> str:
    """The name of a value's type, whose own type may raise where it is asked."""
    name: str = type.__dict__["__name__"].__get__(type(value))
    return name


def _placeholder(value: Any, error: BaseException) -> str:
    problem = told(error)
    problem = problem if len(problem) <= _MOST_TOLD else f"{problem[:_MOST_TOLD]}…"
    try:
        itself = object.__repr__(value).removesuffix(">")
    except Exception:  # noqa: BLE001  (its type may raise where it is asked for its module)
        itself = f"<{kind_of(value)} object"
    return f"{itself}, whose __repr__ raised {problem}>"


def register() -> None:
    """Have pydevd show such values so; once for all sessions of the process."""
    from _pydevd_bundle.pydevd_safe_repr import SafeRepr

    part, other = SafeRepr._repr, SafeRepr._repr_obj

    def _repr(self: Any, value: Any, level: int) -> Iterable[str]:
        try:
            return ("".join(part(self, value, level)),)
        except (Exception, SystemExit):  # noqa: BLE001  (``isinstance`` asks a value for its class)
            return ("".join(self._repr_other(value, level)),)

    def _repr_obj(self: Any, value: Any, level: int, limit_inner: int, limit_outer: int) -> Iterable[str]:
        as_it_is = _is_raw(value) if self.raw_value else self.convert_to_hex and issubclass(type(value), int)
        given = value if as_it_is else _Written(text_of(value, within=level > 0))
        shown: Iterable[str] = other(self, given, level, limit_inner, limit_outer)
        return shown

    SafeRepr._repr, SafeRepr._repr_obj = _repr, _repr_obj


def _is_raw(value: Any) -> bool:
    """Whether a value has bytes that may be shown as they are."""
    try:
        memoryview(value)
    except Exception:  # noqa: BLE001  (the user's code may raise anything)
        return False
    return True
