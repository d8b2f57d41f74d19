"""Elements in the words of a kernel: its loops' variables, as they are called at the line."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_LOOP = re.compile(r"\s*for ?\((?:int64_t|long) (\w+) ?=")


def loops_around(lines: Sequence[str]) -> list[tuple[str, ...]]:
    """The variables of the loops around each line, outermost first; a kernel's text is indented as it is nested."""
    found: list[tuple[str, ...]] = []
    open_loops: list[tuple[int, str]] = []
    for line in lines:
        depth = len(line) - len(line.lstrip())
        if line.strip() and not line.lstrip().startswith(("{", "}")):
            open_loops = [each for each in open_loops if each[0] < depth]
        found.append(tuple(variable for _, variable in open_loops))
        if loop := _LOOP.match(line):
            open_loops.append((depth, loop[1]))
    return found


def shown(index: Sequence[Any], kernel: Any, loops: tuple[str, ...]) -> tuple[str, ...]:
    """An element's index as Python over the variables that are there."""
    from torch._inductor.utils import sympy_index_symbol

    names = sizes_taken(kernel.args)
    for each in kernel.itervars:
        if f"{each}_tail" in loops:
            names[each] = sympy_index_symbol(f"{each}_tail")
        elif f"{each}_inner" in loops:
            names[each] = each + sympy_index_symbol(f"{each}_inner")
    return printed(index, names)


def sizes_taken(arguments: Any) -> dict[Any, Any]:
    """The sizes that a kernel takes, as it calls them."""
    from torch._inductor.utils import sympy_index_symbol

    return {old: sympy_index_symbol(str(new)) for old, new in arguments.sizevars.items()}


def printed(values: Iterable[Any], names: dict[Any, Any]) -> tuple[str, ...]:
    """Numbers and terms of torch's as Python, with other names for some symbols."""
    from torch._inductor.codegen.common import PythonPrinter
    from torch._inductor.utils import sympy_subs

    printer = PythonPrinter()
    return tuple(printer.doprint(sympy_subs(each, names) if hasattr(each, "free_symbols") else each) for each in values)


def vector_lanes(kernel: Any) -> tuple[tuple[str, str], ...]:
    """The loop's variable along which a vector of ``kernel`` lies, with its number of lanes."""
    index = getattr(kernel, "tiling_idx", None)
    return () if index is None else ((str(kernel.itervars[index]), str(kernel.num_elems)),)
