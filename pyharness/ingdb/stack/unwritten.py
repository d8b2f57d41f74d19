"""Sources that are nowhere on the disk: asked of the program's memory once, when a frame of them is seen first."""

from __future__ import annotations

from typing import TYPE_CHECKING

import gdb

from pyharness.host.surroundings import Surroundings
from pyharness.model.text.source_line import remember
from pyharness.reading.python.source_texts import source_texts, unwritten

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyharness.model.frames import Frame
    from pyharness.reading.python.threads import Python

_asked: dict[int, set[str]] = {}
"""By process: the names that were asked for. A cell that runs again has a name of its own."""
_news: dict[str, str] = {}


def learn(frames: Sequence[Frame], python: Python) -> None:
    """Have the text of what is in no file, for each line of it that is shown from now on."""
    pid = gdb.selected_inferior().pid
    asked = _asked.setdefault(pid, set())
    new = unwritten(frames) - asked
    if new:
        asked.update(new)
        root = Surroundings(pid).root
        for name, text in source_texts(python, unwritten(frames, root) & new if root else new).items():
            remember(name, text)
            _news[name] = text


def news() -> dict[str, str]:
    """The texts that were found since this was asked last, by the names of their files."""
    told = dict(_news)
    _news.clear()
    return told
