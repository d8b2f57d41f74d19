"""A person at a terminal whose lines are edited: with a history, completion, and several lines of Python."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING

from pyharness.host.folders import home_folder
from pyharness.host.regular_file import read_text
from pyharness.host.state import StateError, state_dir, state_errors
from pyharness.prompt.lines.sources import PROMPT, Typed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from prompt_toolkit import PromptSession

    from pyharness.prompt.completion import Candidate
    from pyharness.prompt.screen import Screen

_PLAIN = ("", "dumb", "unknown")


def is_possible() -> bool:
    """Whether the terminal can move its cursor."""
    return os.environ.get("TERM", "") not in _PLAIN


class Edited:
    """Lines that the editor gives; it is imported on a thread, and made for the first of them."""

    forgives = True

    def __init__(self, screen: Screen) -> None:
        self.prompt = PROMPT
        self._screen = screen
        self.complete: Callable[[str], Iterable[Candidate]] = lambda _text: ()
        """What a text may go on with; set when there is somebody who knows."""
        self._editor: PromptSession[str] | None = None
        self._importing = threading.Thread(target=_import, name="pyharness-editor", daemon=True)

    def prepare(self) -> None:
        """Begin to import the editor; the first prompt waits for that."""
        self._importing.start()

    def read(self) -> str:
        """The next line."""
        if self._editor is None:
            self._editor = self._made()
        return self._editor.prompt(self.prompt, handle_sigint=False)

    def asks(self, question: str) -> bool:
        """Whether the answer begins with a y; it is no line of the history."""
        return Typed(self._screen).asks(question)

    def _made(self) -> PromptSession[str]:
        self._importing.join()
        from pyharness.prompt.lines.editor import editor

        return editor(self._history(), self.complete, vi=wants_vi())

    def _history(self) -> Path | None:
        try:
            return history_file()
        except StateError as error:
            self._screen.note(f"The history of this session is not kept. {error.message}")
            return None


def history_file() -> Path:
    """The file of what was typed, readable by its owner only; ``StateError`` where it cannot be written."""
    path = state_dir() / "prompt-history"
    with state_errors():
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK, 0o600)
        os.fchmod(descriptor, 0o600)
        os.close(descriptor)
    return path


def wants_vi() -> bool:
    """Whether readline was told to edit as vi does: gdb's prompt and Python's follow that, too."""
    home = home_folder()
    named = os.environ.get("INPUTRC") or (f"{home}/.inputrc" if home else "")
    try:
        words = [line.split() for line in read_text(named).splitlines()]
    except (OSError, ValueError):
        return False
    modes = [line[2] for line in words if line[:2] == ["set", "editing-mode"] and len(line) > 2]
    return modes[-1:] == ["vi"]


def _import() -> None:
    from pyharness.prompt.lines import editor  # noqa: F401
