"""Frames as an animated SVG: CSS moves a film past a window. GitHub would run no JavaScript.

A line that is the same in several frames is written once, and so are all lines of a screen but the one that is typed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from frames import Frame, Row, Run

_CHARACTER, _LINE = 8.4, 19
"""A character's width and a line's height, in pixels."""
_EDGE, _TITLE = 14, 36
_FONT = "14px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace"
_PAPER, _FRAME, _INK = "#0d1117", "#30363d", "#d1d7e0"
_COLOURS = {
    "red": "#ff7b72",
    "green": "#7ee787",
    "brown": "#e3b341",
    "blue": "#79c0ff",
    "magenta": "#d2a8ff",
    "cyan": "#56d4dd",
    "brightblack": "#8b949e",
}
"""The colours that the prompt uses; what has another is plain."""


def drawn(frames: Sequence[Frame], title: str, still: int) -> str:
    """The picture; ``still`` is the frame for viewers that do not move, and for readers who want no motion."""
    columns = max(sum(len(run.text) for run in row) for frame in frames for row in frame.rows)
    film = _Film(round(columns * _CHARACTER) + 1, len(frames[0].rows) * _LINE)
    shots = [film.shot(number, frame) for number, frame in enumerate(frames)]
    width, height = film.width + 2 * _EDGE, film.height + _TITLE + _EDGE
    size = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" xml:space="preserve">',
            f"<title>{escape(title)}</title>",
            "<style>",
            *_style(frames, film.width, still),
            "</style>",
            f'<rect x=".5" y=".5" width="{width - 1}" height="{height - 1}" rx="8" fill="{_PAPER}" stroke="{_FRAME}"/>',
            f'<text x="{width / 2:g}" y="23" text-anchor="middle" class="brightblack">{escape(title)}</text>',
            "<defs>",
            f'<rect id="cursor" width="{_CHARACTER}" height="{_LINE}" fill="{_INK}" opacity=".6"/>',
            *film.parts,
            "</defs>",
            f'<svg x="{_EDGE}" y="{_TITLE}" width="{film.width}" height="{film.height}"><g class="film">',
            *shots,
            "</g></svg>",
            "</svg>",
            "",
        ]
    )


class _Film:
    """Frames side by side, and what they have in common."""

    def __init__(self, width: int, height: int) -> None:
        self.width, self.height = width, height
        self._parts: dict[str, str] = {}

    @property
    def parts(self) -> Iterator[str]:
        """What frames refer to by its name."""
        return (f'<g id="{name}">{inside}</g>' for inside, name in self._parts.items())

    def shot(self, number: int, frame: Frame) -> str:
        """One frame at its place: the lines that stay, the line that is typed, the cursor."""
        row, column = frame.cursor
        others = "".join(self._line(each, at) for at, each in enumerate(frame.rows) if at != row)
        cursor = f'<use href="#cursor" x="{column * _CHARACTER:g}" y="{row * _LINE}"/>'
        inside = f"{self._used(others)}{self._line(frame.rows[row], row)}{cursor}"
        return f'<g transform="translate({number * self.width})">{inside}</g>'

    def _line(self, row: Row, at: int) -> str:
        return self._used(_text(row), f' y="{at * _LINE}"') if row else ""

    def _used(self, inside: str, place: str = "") -> str:
        name = self._parts.setdefault(inside, f"p{len(self._parts)}")
        return f'<use href="#{name}"{place}/>'


def _text(row: Row) -> str:
    """A line as wide as its characters take in the terminal, whatever font the viewer has."""
    wide = _CHARACTER * sum(len(run.text) for run in row)
    return f'<text y="14" textLength="{wide:g}" lengthAdjust="spacingAndGlyphs">{"".join(map(_run, row))}</text>'


def _run(run: Run) -> str:
    looks = [run.colour] * (run.colour in _COLOURS) + ["b"] * run.bold
    text = escape(run.text)
    return f'<tspan class="{" ".join(looks)}">{text}</tspan>' if looks and text else text


def _style(frames: Sequence[Frame], width: int, still: int) -> Iterator[str]:
    whole = sum(frame.seconds for frame in frames)
    yield f"text{{font:{_FONT};fill:{_INK};white-space:pre}}.b{{font-weight:bold}}"
    yield "".join(f".{name}{{fill:{colour}}}" for name, colour in _COLOURS.items())
    yield f".film{{transform:translateX({-still * width}px);animation:film {whole:g}s steps(1,end) infinite}}"
    yield "@media(prefers-reduced-motion:reduce){.film{animation:none}}"
    yield "@keyframes film{"
    begins = 0.0
    for number, frame in enumerate(frames):
        yield f"{begins / whole:.3%}{{transform:translateX({-number * width}px)}}"
        begins += frame.seconds
    yield f"to{{transform:translateX({-(len(frames) - 1) * width}px)}}}}"
