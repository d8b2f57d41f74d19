"""What a person can have watched: an element of a tensor that Python has, or any value of a native frame."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pyharness.model.errors import HarnessError

if TYPE_CHECKING:
    from pyharness.debugger.merged_stack import StackFrame
    from pyharness.debugger.native.watch import NativeWatch
    from pyharness.debugger.python.side import PythonSide
    from pyharness.protocol.mi import WatchTarget

_ITEM = re.compile(r"(.+?)\[[^\[\]]*\]", re.DOTALL)
_TENSOR = "(lambda value: id(value) if 'Tensor' in [kind.__name__ for kind in type(value).__mro__] else 0)({})"


def watchable(python: PythonSide, watch: NativeWatch, shown: StackFrame, expression: str) -> WatchTarget:
    """The target of an expression in a frame; ``HarnessError`` says why nothing can be watched."""
    if shown.debugpy is None:
        return watch.target(shown.thread, expression, max(shown.level, 0))
    return _python(python, watch, shown.thread, shown.debugpy, expression)


def _python(python: PythonSide, watch: NativeWatch, thread: int, frame: int, expression: str) -> WatchTarget:
    """A tensor by its object, which debugpy tells; gdb finds the element in it.

    Of ``x[1][0]`` that is ``x``: ``x[1]`` is gone as soon as it was looked at. Of ``xs[0][1]`` it may be ``xs[0]``.
    """
    for base, indices in _splits(expression):
        asked = {"expression": _TENSOR.format(base), "frameId": frame, "context": "watch"}
        found = int(python.request("evaluate", asked)["result"])
        if found:
            named = f"({base})" if base.endswith("]") else base
            return watch.target(thread, named + indices, 0, python_object=found)
    raise HarnessError(f"{expression} is not a tensor.", "Name an element of one (x[3, 2]), or stop in native code.")


def _splits(expression: str) -> list[tuple[str, str]]:
    """An expression and what it ends in, ``[...][...]``, at each bracket: the longest end first."""
    bases = [expression.strip()]
    while found := _ITEM.fullmatch(bases[-1]):
        bases.append(found[1])
    return [(base, bases[0][len(base) :]) for base in reversed(bases)]
