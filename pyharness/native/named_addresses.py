"""Frames of this process by their addresses alone: the function, and in the user's code the file and the line."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from pyharness.model.plumbing import native_family
from pyharness.reading.live.process import LiveProcess
from pyharness.reading.stack.merge import merge
from pyharness.reading.stack.naming import Naming
from pyharness.reading.stack.unwinding import NativeCall

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pyharness.model.frames import Frame


def frames_below_python(addresses: Sequence[int]) -> list[Frame]:
    """What is at these addresses, innermost first, up to where Python called.

    The first is that of an instruction, the others are those to which calls return.
    """
    with LiveProcess(os.getpid()) as process:
        naming = Naming(process.program)
        native = naming.frames(_calls(process, addresses))
        naming.keep()
    frames = merge(native, ())
    ends = (index for index, frame in enumerate(frames) if _is_interpreter(frame))
    return frames[: next(ends, len(frames))]


def _calls(process: LiveProcess, addresses: Sequence[int]) -> Iterator[NativeCall]:
    for index, address in enumerate(addresses):
        library = process.files.at(address)
        bias = library.bias if library else 0
        yield NativeCall(address, 0, None, library, address - bias - bool(index), {})


def _is_interpreter(frame: Frame) -> bool:
    return native_family(frame.function, frame.library, frame.file) == "interpreter"
