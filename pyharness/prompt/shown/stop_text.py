"""What a stop shows unasked: where, why, the lines around, and the variables that have changed since the last one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyharness.model.text.stack_format import MAX_TEXT, function_text, place_text
from pyharness.model.text.styled_line import Line, Style, in_parts
from pyharness.model.text.visible import in_one_line
from pyharness.session.transcript_text import fx_text, source_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pyharness.debugger.frame_variables import Named
    from pyharness.model.frames import Frame, Language
    from pyharness.prompt.screen import Screen

_INDENT = "   "
_LEAST = 3
"""Lines of variables that even a low terminal gets."""
_AROUND_VARIABLES = 10
"""Lines of a stop that are no variables, and of the prompt behind them."""
_MOST = 12


class Changes:
    """The variables of each function as they were when it was last stopped in."""

    def __init__(self) -> None:
        self._before: dict[tuple[str, str | None], dict[str, str]] = {}
        self._last: tuple[str, str | None] | None = None

    def since(self, frame: Frame, variables: Iterable[Named], *, stepped: bool) -> list[Named]:
        """The variables that are new or have another value.

        All of them where a function is come to otherwise than by a step, which may be a call of its own.
        """
        known = {each.name: each for each in variables}
        key = frame.function, frame.file
        before = self._before.get(key, {}) if stepped or key == self._last else {}
        self._before[key] = {name: each.value for name, each in known.items()}
        self._last = key
        return [each for name, each in known.items() if before.get(name) != each.value]


def fitted(lines: Iterable[Line], screen: Screen, language: Language) -> Iterable[Line]:
    """Lines with a source among them, cut where the terminal ends, and coloured where it has colours."""
    columns = screen.columns()
    cut = lines if columns is None else [_cut(line, columns) for line in lines]
    if not screen.in_colour():
        return cut
    from pyharness.prompt.shown.highlighting import highlighted

    return highlighted(cut, language)


def _cut(line: Line, columns: int) -> Line:
    long = len(line.text) >= columns and not line.parts
    return Line(f"{line.text[: columns - 2]}…", line.style) if long else line


def variable_lines(variables: Sequence[Named], columns: int | None, rows: int | None) -> Iterator[Line]:
    """A line for each, as many as leave the stop on one screen."""
    most = _MOST if rows is None else max(_LEAST, min(_MOST, rows - _AROUND_VARIABLES))
    shown = variables if len(variables) <= most else variables[: most - 1]
    for each in shown:
        yield value_line(each.name, each.value, columns)
    if len(variables) > len(shown):
        yield Line(f"{_INDENT}… {len(variables) - len(shown)} more: `locals` shows all", "faint")


def frame_lines(number: int, shown: Frame) -> Iterator[Line]:
    """A frame, and the lines around."""
    parts = (shown.language, function_text(shown), place_text(shown))
    yield Line(f"#{number}  {' · '.join(filter(None, parts))}", "heading")
    if shown.fx:
        yield Line(f"   {fx_text(shown.fx)}", "place")
    for line in source_lines(shown):
        yield line.behind("   ")


def value_line(name: str, value: str, columns: int | None, style: Style = "") -> Line:
    """``name = value`` in one line of the terminal."""
    head = f"{_INDENT}{name} = "
    room = max(10, (columns or MAX_TEXT + len(head)) - len(head) - 1)
    text = in_one_line(value)
    return in_parts((head, "faint"), (text if len(text) <= room else f"{text[: room - 1]}…", style))


def value_lines(name: str, value: str) -> Iterator[Line]:
    """``name = value`` with all lines of the value."""
    head = f"{name} = "
    for number, line in enumerate(value.splitlines() or [""]):
        yield Line(f"{' ' * len(head) if number else head}{line}".rstrip())
