"""How values of a type are shown: one line of text each, from memory alone, so that core files are fine."""

from __future__ import annotations

import re
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar

import gdb
import gdb.printing

from pyharness.ingdb.tensors.address import plain_type, referred, type_name
from pyharness.ingdb.tensors.held import holds_tensor
from pyharness.ingdb.tensors.members import is_in_pieces, members_text
from pyharness.model.text.visible import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Show = Callable[[gdb.Value], str]
    Look = Callable[[gdb.Value], gdb.Value | None]
    List = Callable[[gdb.Value], Iterator[gdb.Value]]

MAX_LENGTH = 1 << 32
"""A count beyond this was never written by the program."""


class Room:
    """How much of a value is shown. gdb calls printers and passes nothing on: so it is one for this gdb."""

    elements: ClassVar[int] = 20
    """Elements of a container."""
    characters: ClassVar[int] = 160
    """Characters of a text."""
    _WHOLE: ClassVar[int] = 10_000

    @classmethod
    @contextmanager
    def whole(cls) -> Iterator[int]:
        """Show far more than a line takes; yields how much."""
        usual = cls.elements, cls.characters
        cls.elements = cls.characters = cls._WHOLE
        try:
            yield cls._WHOLE
        finally:
            cls.elements, cls.characters = usual


class _Known:
    """The types that have their own way to be shown: what matches the whole of their name, the first that does."""

    shown: ClassVar[list[tuple[re.Pattern[str], Show]]] = []
    inside: ClassVar[list[tuple[re.Pattern[str], Look]]] = []
    parts: ClassVar[list[tuple[re.Pattern[str], List]]] = []
    tensor: ClassVar[list[Show]] = []


def shows(pattern: str) -> Callable[[Show], Show]:
    """Register how values are shown whose type's name is matched whole by ``pattern``."""

    def register_show(show: Show) -> Show:
        _Known.shown.append((re.compile(pattern), show))
        return show

    return register_show


def holds(pattern: str) -> Callable[[Look], Look]:
    """Register what such values expand into: the value that they hold or point to, ``None`` where it is none."""

    def register_look(look: Look) -> Look:
        _Known.inside.append((re.compile(pattern), look))
        return look

    return register_look


def consists_of(pattern: str) -> Callable[[List], List]:
    """Register of what such values consist, in order: they are shown in brackets, and expand into that."""

    def register_list(parts: List) -> List:
        shows(pattern)(lambda value: f"({', '.join(text_of(each) for each in parts(value))})")
        return expands_into(pattern)(parts)

    return register_list


def expands_into(pattern: str) -> Callable[[List], List]:
    """Register into what such values expand, in order."""

    def register_list(parts: List) -> List:
        _Known.parts.append((re.compile(pattern), parts))
        return parts

    return register_list


def only_holds(pattern: str) -> Callable[[Callable[[gdb.Value], gdb.Value]], Callable[[gdb.Value], gdb.Value]]:
    """Register what such values hold, as which they are shown, and into which they expand."""

    def register_held(held: Callable[[gdb.Value], gdb.Value]) -> Callable[[gdb.Value], gdb.Value]:
        shows(pattern)(lambda value: text_of(held(value)))
        holds(pattern)(held)
        return held

    return register_held


def shows_tensors(show: Show) -> Show:
    """Register how tensors are shown, and what holds one."""
    _Known.tensor.append(show)
    return show


@cache
def _show_of(name: str) -> Show | None:
    return next((show for pattern, show in _Known.shown if pattern.fullmatch(name)), None)


@cache
def _look_of(name: str) -> Look | None:
    return next((look for pattern, look in _Known.inside if pattern.fullmatch(name)), None)


def inside(value: gdb.Value) -> gdb.Value | None:
    """What a value holds or points to, where it is one that only does that."""
    look = _look_of(type_name(value.type))
    return look(referred(value)) if look else None


def parts(value: gdb.Value) -> list[gdb.Value] | None:
    """What a value consists of, where it is one that has no names for that."""
    name = type_name(value.type)
    listed = next((each for pattern, each in _Known.parts if pattern.fullmatch(name)), None)
    return list(listed(referred(value))) if listed else None


_LOST = "optimized out"


class Printer:
    """What gdb asks for a value's text."""

    def __init__(self, value: gdb.Value, show: Show) -> None:
        self._value = value
        self._show = show

    def to_string(self) -> str:
        """The text; a placeholder where something cannot be read: a printer that raises hides the whole value."""
        try:
            return self._show(self._value)
        except Exception as error:  # noqa: BLE001  (memory may hold anything, and a class may be of another version)
            if _LOST in str(error):
                return f"<{_LOST}>"
            return f"<unreadable {type_name(self._value.type)}: {error}>"


def find(value: gdb.Value) -> Printer | None:
    """The printer of a value, ``None`` where gdb's own way to show it is as good."""
    if is_in_pieces(value):
        return Printer(value, lambda pieces: members_text(pieces, text_of))
    kind = plain_type(value.type)
    if holds_tensor(kind):
        return Printer(value, _Known.tensor[0])
    if kind.code == gdb.TYPE_CODE_PTR:
        return None
    if kind.code == gdb.TYPE_CODE_ARRAY and kind.target().dynamic:
        return Printer(value, _each_decided)
    if kind.code == gdb.TYPE_CODE_STRUCT and kind.dynamic and referred(value).address is None:
        return Printer(value, _undecided)
    show = _show_of(kind.name or "")
    return Printer(referred(value), show) if show else None


def printer_of(value: gdb.Value) -> Any:
    """The printer that gdb would take, ours or another; ``None`` where it has none, and where that cannot be made."""
    try:
        return gdb.default_visualizer(value)
    except Exception:  # noqa: BLE001  (printers are anybody's: GCC's fail on classes that are declared only)
        return None


def _undecided(value: gdb.Value) -> str:
    """An enumeration of Rust, or what has one, in no memory: gdb would take any variant, or fail an assertion."""
    return f"<{plain_type(value.type)} in registers: its variant is not known>"


def _each_decided(value: gdb.Value) -> str:
    """An array of enumerations of Rust: gdb takes the variant of the first for that of all."""
    low, high = plain_type(value.type).range()
    length = high - low + 1
    return listed((value[low + index] for index in range(min(length, Room.elements))), length)


class _OnTerminal(Printer):
    """A printer for gdb itself, which prints text as it is."""

    def __init__(self, printer: Printer) -> None:
        super().__init__(printer._value, printer._show)  # noqa: SLF001  (of its own class)

    def to_string(self) -> str:
        """The text, with nothing in it that a terminal obeys."""
        return visible(super().to_string())


class _Printers:
    """What gdb keeps in its list of printers; ``disable pretty-printer global pyharness`` turns it off."""

    name = "pyharness"
    enabled = True
    subprinters = None

    def __call__(self, value: gdb.Value) -> Printer | None:
        found = find(value)
        return _OnTerminal(found) if found else None


def register() -> None:
    """Have gdb ask `find` for every value it prints."""
    gdb.printing.register_pretty_printer(None, _Printers(), replace=True)


def text_of(value: gdb.Value, depth: int = 3) -> str:
    """A value: by its printer, else as gdb prints it, with structures inside of others so deep."""
    if printer := find(value):
        return printer.to_string()
    return referred(value).format_string(max_elements=Room.elements, max_depth=depth)


def listed(values: Iterator[gdb.Value], length: int) -> str:
    """Values of a container that has ``length`` of them."""
    shown = [text_of(value) for value in values]
    return f"[{', '.join(shown + ['…'] * (length > len(shown)))}]" + (f" ({length})" if length > len(shown) else "")


def items(first: gdb.Value, length: int) -> str:
    """``length`` values from the pointer ``first`` on, the first `Room.elements` of them shown."""
    if not 0 <= length < MAX_LENGTH:
        return f"<corrupt: a length of {length}>"
    return listed(((first + index).dereference() for index in range(min(length, Room.elements))), length)


def enumerator(value: gdb.Value) -> str:
    """``Double`` of ``c10::IValue::Tag::Double``."""
    return str(value).rpartition("::")[2]
