"""Where a kernel that torch.compile made computes an element: lines of C++ with conditions on its loops."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyharness.debugger.breaking.breakpoint import LineInCxx
from pyharness.debugger.native.variables import NativeVariables
from pyharness.model.errors import HarnessError, UsageError
from pyharness.model.kernel_elements import conditions_of, nodes_of, result_of
from pyharness.model.kernel_frames import calls_of
from pyharness.model.where import Where

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pyharness.debugger.shell import Shell
    from pyharness.model.element import Element
    from pyharness.model.frames import Frame

NO_SYMBOL = "No symbol "
"""How gdb refuses a condition on what the compiler keeps nowhere."""


def places_of(shell: Shell, thread: int, level: int, frame: Frame, element: Element) -> list[Where]:
    """The places at which the kernel of a frame, which is at ``level`` of its thread, computes an element.

    ``HarnessError`` where it computes none such, or where the frame is in no kernel.
    """
    known = _variables(shell, frame).find_element(thread, level, element.node, element.index)
    return [
        Where("native", file=known.file, line=int(line), condition=condition)
        for line, condition in known.conditions.items()
    ]


def lines_of(where: Where, wrapper: str, kernels: Mapping[str, Sequence[str]]) -> tuple[list[LineInCxx], str]:
    """The lines that compute the element of a place in the kernels of a wrapper; and why not, where its node is there.

    ``kernels`` has the files of each wrapper's.
    """
    found: list[LineInCxx] = []
    why = ""
    for file in kernels[wrapper]:
        others = any(file in files for other, files in kernels.items() if other != wrapper)
        calls = calls_of(file, wrapper)
        for call in calls:
            if not (node := result_of(call, nodes_of(call, where.name))):
                continue
            try:
                conditions = conditions_of(call, node, where.element or ())
            except HarnessError as error:
                why = str(error)
                continue
            of = node if others or len(calls) > 1 else ""
            found += [LineInCxx(file, line, condition, of) for line, condition in conditions.items()]
    return found, "" if found else why


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
