"""Keys pressed at a shell in a terminal of its own, and the screens that are seen."""

from __future__ import annotations

import os
import re
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pyte
from frames import Frame, frame_of

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests"))

from kit.terminal import PATIENCE, Window  # noqa: E402  (the terminal that tests type at)

if TYPE_CHECKING:
    from collections.abc import Iterator

COLUMNS, LINES = 100, 30
_SHELL, _PROMPT = "$", "(ph)"
_PER_KEY, _BEFORE_ENTER = 0.06, 0.4
_FAINT = 2
_GREY = 90
_COMPLETED = re.compile(r"\[(\w+)\]")


class _Screen(pyte.Screen):
    """A screen that shows faint text, which pyte does not know, in grey."""

    def select_graphic_rendition(self, *attributes: int, **options: bool) -> None:
        super().select_graphic_rendition(*(_GREY if each == _FAINT else each for each in attributes), **options)


class Recorder(Window):
    """A shell in a terminal, and the frames of what was done in it."""

    def __init__(self, state: Path) -> None:
        """Start it in the root of the repository, with a state folder and a history of its own."""
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
        own = {"PATH": path, "VIRTUAL_ENV": sys.prefix, "HOME": str(state), "PS1": f"{_SHELL} "}
        kept = {name: os.environ[name] for name in ("LANG", "LC_ALL", "PYTHONPATH") if name in os.environ}
        command = ["sh", "-c", 'cd "$1" && exec sh -i', "sh", str(ROOT)]
        super().__init__(command, {"LANG": "C.UTF-8", **kept, **own, "PYHARNESS_HOME": str(state)}, COLUMNS, LINES)
        self._screen = _Screen(COLUMNS, LINES)
        self._stream = pyte.Stream(self._screen)
        self.frames: list[Frame] = []
        self._until_last(_SHELL)
        self._keep(1.0)

    def begin(self, command: str, seconds: float) -> None:
        """Type a command at the shell, and wait for the first prompt."""
        self._type_at(_SHELL, command)
        self._until_last(_PROMPT)
        self._keep(seconds)

    def answer(self, line: str, seconds: float) -> None:
        """Type a line at the prompt, and wait for the next one, or for the shell's behind ``quit``."""
        self._type_at(_PROMPT, line)
        self._until_last(_SHELL if line == "quit" else _PROMPT)
        self._keep(seconds)

    def _type_at(self, prompt: str, line: str) -> None:
        for key, typed in _keys(line):
            self.type(key)
            self._until_last(f"{prompt} {typed}".rstrip())
            self._keep(_PER_KEY)
        self._keep(_BEFORE_ENTER)
        self.type("\r")

    def _until_last(self, line: str) -> None:
        """Wait until this is the last line that has text."""
        ends = time.monotonic() + PATIENCE
        while [each for each in self.lines if each][-1:] != [line]:
            if time.monotonic() > ends:
                raise TimeoutError(f"{line!r} is not the last line:\n" + "\n".join(self.lines))
            self._read_some()

    def _keep(self, seconds: float) -> None:
        self.frames.append(frame_of(self._screen, seconds))


def _keys(line: str) -> Iterator[tuple[str, str]]:
    """Each key of a line, and what stands in the line then."""
    typed = ""
    for part, text in enumerate(_COMPLETED.split(line)):
        for key, adds in [("\t", text)] if part % 2 else [(each, each) for each in text]:
            typed += adds
            yield key, typed
