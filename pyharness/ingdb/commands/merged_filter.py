"""A stack of both languages for clients that ask gdb itself for frames (IDEs, ``bt``): a frame filter.

Python frames appear below the native frame that runs them, and machinery (the interpreter, torch's dispatcher) is left
out. ``bt -no-filters`` has every native frame.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import gdb
from gdb.FrameDecorator import FrameDecorator

from pyharness.ingdb.prompt.registry import command
from pyharness.ingdb.stack.backtrace import frames_in_order
from pyharness.model.errors import HarnessError
from pyharness.model.plumbing import native_family, python_family
from pyharness.model.source_map import place_of
from pyharness.model.text.visible import visible
from pyharness.reading.functions.function_name import bare_name
from pyharness.reading.process.memory import UnreadableError
from pyharness.reading.stack.merge import NativeFrame

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyharness.reading.python.frames import PythonFrame

_NAME = "pyharness-merged"


class _Native(FrameDecorator):
    """A frame of gdb's, which prints names as they are, with the whole path of its file: clients open it by that."""

    def __init__(self, frame: NativeFrame) -> None:
        super().__init__(frame.handle)
        self._frame = frame

    def function(self) -> str:
        """Without parameters."""
        return visible(bare_name(self._frame.function))

    def filename(self) -> str | None:
        """The source's absolute path; the library where there is none."""
        symtab = self.inferior_frame().find_sal().symtab
        return symtab.fullname() if symtab else self._frame.library


class _Python(FrameDecorator):
    """A Python frame; gdb's frame of the interpreter's loop lends it its level."""

    def __init__(self, loop: gdb.Frame, frame: PythonFrame) -> None:
        super().__init__(loop)
        self._frame = frame

    def function(self) -> str:
        """The function's name, as Python calls it."""
        return visible(self._frame.function)

    def filename(self) -> str | None:
        """The source's path."""
        return visible(self._frame.file) if self._frame.file else None

    def line(self) -> int | None:
        """The line that runs."""
        return self._frame.line

    def frame_args(self) -> None:
        """None that gdb could show: `ph-print -python` does."""

    def frame_locals(self) -> None:
        """None that gdb could show."""


class MergedStack:
    """The frame filter; off until ``ph-merged-stack``."""

    def __init__(self) -> None:
        self.name = _NAME
        self.priority = 10  # the last: it has names of its own
        self.enabled = False

    def filter(self, iterator: Iterator[Any]) -> Iterator[Any]:
        """The merged stack of the selected thread, or gdb's own where it cannot be read."""
        try:
            thread = gdb.selected_thread()
            frames = frames_in_order(thread)[0] if thread else []
        except (HarnessError, UnreadableError, gdb.error):
            frames = []
        return self._decorated(frames) if frames else iterator

    @staticmethod
    def _decorated(frames: list[NativeFrame | PythonFrame]) -> Iterator[Any]:
        loop = None
        for index, frame in enumerate(frames):
            if isinstance(frame, NativeFrame):
                loop = frame.handle
                if index == 0 or not native_family(frame.function, frame.library, frame.file):
                    yield _Native(frame)
            elif loop is not None and (
                place_of(frame.file, frame.line) or not python_family(frame.function, frame.file)
            ):
                yield _Python(loop, frame)


def register() -> None:
    """Make filter and command known; a second call changes nothing."""
    if _NAME not in gdb.frame_filters:
        gdb.frame_filters[_NAME] = MergedStack()
        command("ph-merged-stack", gdb.COMMAND_STACK)(_switch)


def _switch(argument: str) -> None:
    """Show the stack of both languages wherever gdb shows a stack: ph-merged-stack [off]. For IDEs."""
    gdb.frame_filters[_NAME].enabled = argument != "off"
