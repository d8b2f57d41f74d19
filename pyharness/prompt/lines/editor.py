"""The editor of lines: prompt_toolkit's, which is imported while the program starts."""

from __future__ import annotations

import os
import shutil
import sys
from typing import TYPE_CHECKING

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import Completer, Completion
from prompt_toolkit.data_structures import Size
from prompt_toolkit.enums import EditingMode
from prompt_toolkit.filters import Condition
from prompt_toolkit.history import FileHistory, InMemoryHistory
from prompt_toolkit.output import ColorDepth
from prompt_toolkit.output.vt100 import Vt100_Output

from pyharness.prompt.lines.statements import is_begun

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from prompt_toolkit.completion import CompleteEvent
    from prompt_toolkit.document import Document

    from pyharness.prompt.completion import Candidate

_MENU_LINES = 4


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
        enable_suspend=True,
        multiline=Condition(lambda: is_begun(made.default_buffer.text)),
        prompt_continuation="...  ",
        output=Vt100_Output(sys.stdout, _size, os.environ.get("TERM"), enable_bell=False, enable_cpr=False),
        color_depth=ColorDepth.DEPTH_1_BIT,
        reserve_space_for_menu=_MENU_LINES,
    )
    return made


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
