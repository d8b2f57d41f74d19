"""Merges native and Python frames of a thread, by the address of each interpreter loop on the C stack."""

from __future__ import annotations

import re
from dataclasses import field
from typing import TYPE_CHECKING, Any

from pyharness.model.frames import AutogradNode, Frame
from pyharness.model.frozen import changed, frozen
from pyharness.model.kernel_frames import named
from pyharness.model.plumbing import DEBUGGER, native_family, python_family
from pyharness.model.source_map import place_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pyharness.reading.python.frames import Loop, PythonFrame

    Variables = tuple[tuple[str, str], ...]

_EVALUATES = "_PyEval_EvalFrameDefault"
"""The native function that runs a Python function, in CPython 3.9."""
_STANDARD_LIBRARY = re.compile(r"/python3\.\d+/(?!(site|dist)-packages/)")


@frozen
class NativeFrame:
    """A frame of the C stack; its part of the stack is from ``sp`` up to, not including, ``cfa``."""

    pc: int
    sp: int
    cfa: int | None
    """Stack pointer of the caller; ``None`` where the unwinder ended."""
    function: str
    file: str | None = None
    line: int | None = None
    library: str | None = None
    handle: Any = field(default=None, compare=False)
    """The debugger's own frame, for those who annotate frames."""


def not_read(native: Sequence[NativeFrame], limit: int) -> str:
    """What to say of a stack whose outer native frames were left out: a recursion that has run away."""
    return f"native frames behind the innermost {limit} are not shown" if len(native) >= limit else ""


def merge(
    native: Sequence[NativeFrame],
    loops: Sequence[Loop],
    nodes: Callable[[NativeFrame], AutogradNode | None] | None = None,
    variables: Callable[[NativeFrame | PythonFrame], Variables] | None = None,
) -> list[Frame]:
    """One stack, innermost first: the Python frames of a loop follow the native frame that runs the loop.

    ``nodes`` gives the autograd node that a native frame runs. ``variables`` gives local variables.
    """
    frames = in_order(native, loops)
    waits = _of_the_debugger(frames)
    shown = [
        _with_variables(
            _native(frame, nodes) if isinstance(frame, NativeFrame) else python_frame(frame, machinery=index in waits),
            frame,
            variables,
        )
        for index, frame in enumerate(frames)
    ]
    return named(shown)


def _of_the_debugger(frames: Sequence[NativeFrame | PythonFrame]) -> set[int]:
    """Functions of the standard library that the debugger calls: a thread that it holds waits in threading's."""
    found: set[int] = set()
    called_by_it = False
    for index in reversed(range(len(frames))):
        frame = frames[index]
        if isinstance(frame, NativeFrame):
            continue
        if called_by_it and _STANDARD_LIBRARY.search(frame.file or ""):
            found.add(index)
        else:
            called_by_it = python_family(frame.function, frame.file) == DEBUGGER
    return found


def in_order(native: Sequence[NativeFrame], loops: Sequence[Loop]) -> list[NativeFrame | PythonFrame]:
    """The frames of both languages in the order of `merge`."""
    groups: list[list[NativeFrame | PythonFrame]] = [[frame] for frame in native] or [[]]
    for loop, index in zip(loops, _places(native, loops), strict=True):
        groups[index] += loop.frames
    return [frame for group in groups for frame in group]


def _places(native: Sequence[NativeFrame], loops: Sequence[Loop]) -> list[int]:
    """For each loop the index of the native frame that runs it: the one whose part of the stack holds its marker.

    One that no frame holds goes with the next older loop, or to the end: the unwinder did not get to it.
    """
    loops = _marked(native, loops)
    following = max(0, len(native) - 1)
    found: list[int] = []
    for loop in reversed(loops):
        inside = (index for index, frame in enumerate(native) if _holds(frame, loop.marker))
        following = min(following, next(inside, following))
        found.append(following)
    return found[::-1]


def _marked(native: Sequence[NativeFrame], loops: Sequence[Loop]) -> Sequence[Loop]:
    """Loops of CPython 3.9 with the place of their native frame; both are counted from the oldest on."""
    if not any(loop.is_unmarked for loop in loops):
        return loops
    runs = [frame.sp for frame in native if frame.function.startswith(_EVALUATES)]
    lacking = max(0, len(loops) - len(runs))
    markers = [*[None] * lacking, *runs[max(0, len(runs) - len(loops)) :]]
    return [changed(loop, marker=marker) for loop, marker in zip(loops, markers, strict=True)]


def _holds(frame: NativeFrame, marker: int | None) -> bool:
    return marker is not None and frame.cfa is not None and frame.sp <= marker < frame.cfa


def _native(frame: NativeFrame, nodes: Callable[[NativeFrame], AutogradNode | None] | None) -> Frame:
    node = nodes(frame) if nodes else None
    machinery = node is None and bool(native_family(frame.function, frame.library, frame.file))
    return Frame(
        "native",
        frame.function,
        frame.file,
        frame.line,
        autograd=node,
        library=frame.library,
        address=frame.pc,
        plumbing=machinery,
    )


def python_frame(frame: PythonFrame, *, machinery: bool = False) -> Frame:
    """A Python frame as it is shown: what torch.fx knows of its line, and whether somebody's machinery runs there."""
    place = place_of(frame.file, frame.line)
    machinery = machinery or (place is None and bool(python_family(frame.function, frame.file)))
    return Frame("python", frame.function, frame.file, frame.line, fx=place, plumbing=machinery)


def _with_variables(
    shown: Frame,
    frame: NativeFrame | PythonFrame,
    variables: Callable[[NativeFrame | PythonFrame], Variables] | None,
) -> Frame:
    if variables is None or shown.plumbing:
        return shown
    return changed(shown, variables=variables(frame))
