"""The editor of lines: prompt_toolkit's, which is imported while the program starts."""

from __future__ import annotations

import os
import shutil
import signal
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from prompt_toolkit import PromptSession
from prompt_toolkit.application import run_in_terminal
from prompt_toolkit.completion import Completer, Completion
from prompt_toolkit.data_structures import Size
from prompt_toolkit.enums import EditingMode
from prompt_toolkit.filters import Condition
from prompt_toolkit.history import FileHistory, InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings
from prompt_toolkit.output import ColorDepth
from prompt_toolkit.output.vt100 import Vt100_Output

from pyharness.prompt.lines.statements import is_begun

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from prompt_toolkit.completion import CompleteEvent
    from prompt_toolkit.document import Document
    from prompt_toolkit.key_binding import KeyPressEvent

    from pyharness.prompt.completion import Candidate

_MENU_LINES = 4
_LOOK_AGAIN = 0.05


def editor(history: Path | None, complete: Callable[[str], Iterable[Candidate]], *, vi: bool) -> PromptSession[str]:
    """An editor with the keys of Emacs or of vi; ``history`` is the file of what was typed, ``None`` for no file.

    It asks the terminal nothing: an answer that comes late would be typed to the program.
    """
    made: PromptSession[str] = PromptSession(
        history=FileHistory(str(history)) if history else InMemoryHistory(),
        completer=_Asking(complete),
        complete_while_typing=False,
        editing_mode=EditingMode.VI if vi else EditingMode.EMACS,
        enable_history_search=True,
        key_bindings=_keys(),
        multiline=Condition(lambda: is_begun(made.default_buffer.text)),
        prompt_continuation="...  ",
        output=Vt100_Output(sys.stdout, _size, os.environ.get("TERM"), enable_bell=False, enable_cpr=False),
        color_depth=ColorDepth.DEPTH_1_BIT,
        reserve_space_for_menu=_MENU_LINES,
    )
    return made


def _keys() -> KeyBindings:
    keys = KeyBindings()

    @keys.add("c-z")
    def _suspend(_event: KeyPressEvent) -> None:
        run_in_terminal(_suspended)

    return keys


def _suspended() -> None:
    """Stop, with all of the shell's job, until the terminal is ours again.

    What goes on in the background, as by ``kill``, must not set the terminal up: it would be stopped once more, maybe
    before Python has heard the signal that is to end it.
    """
    os.kill(0, signal.SIGTSTP)
    with suppress(OSError):  # the terminal has gone
        while os.tcgetpgrp(sys.stdin.fileno()) != os.getpgrp():  # of that no event tells
            time.sleep(_LOOK_AGAIN)


def _size() -> Size:
    """The terminal's now."""
    columns, rows = shutil.get_terminal_size()
    return Size(rows=rows, columns=columns)


class _Asking(Completer):
    """Completes by asking whoever knows what a text may go on with."""

    def __init__(self, complete: Callable[[str], Iterable[Candidate]]) -> None:
        self._complete = complete

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        """All for the text before the cursor."""
        del complete_event
        for each in self._complete(document.text_before_cursor):
            yield Completion(each.text, -each.length, display_meta=each.about)
