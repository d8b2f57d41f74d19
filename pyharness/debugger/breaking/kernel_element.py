"""Where a kernel that torch.compile made computes an element: lines of C++ with conditions on its loops."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyharness.debugger.native.variables import NativeVariables
from pyharness.model.errors import HarnessError, UsageError
from pyharness.model.where import Where

if TYPE_CHECKING:
    from pyharness.debugger.shell import Shell
    from pyharness.model.element import Element
    from pyharness.model.frames import Frame


def places_of(shell: Shell, thread: int, level: int, frame: Frame, element: Element) -> list[Where]:
    """The places at which the kernel of a frame, which is at ``level`` of its thread, computes an element.

    ``HarnessError`` where it computes none such, or where the frame is in no kernel.
    """
    known = _variables(shell, frame).find_element(thread, level, element.node, element.index)
    return [
        Where("native", file=known.file, line=int(line), condition=condition)
        for line, condition in known.conditions.items()
    ]


def no_element(shell: Shell, thread: int, level: int, frame: Frame, typed: str) -> HarnessError:
    """Say that what was typed is no element: the kernel itself is asked for an example, or says that it is none."""
    what = f"{typed!r} is no element." if typed else "Which element?"
    try:
        _variables(shell, frame).find_element(thread, level, typed, ())
    except HarnessError as error:
        why, _, remedy = str(error).partition("\n")
        return UsageError(f"{what} {why}", remedy)
    return UsageError(what, f"Write {typed or 'NODE'}[].")


def _variables(shell: Shell, frame: Frame) -> NativeVariables:
    if frame.language != "native":
        raise HarnessError("This frame is in no kernel that torch.compile made.", "Step into one, or select its frame.")
    return NativeVariables(shell.attach())
