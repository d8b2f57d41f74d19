"""What becomes of the indices of a loop body when its loops are merged.

Inductor merges two loops where all memory that the body touches lies as if they were one: it runs the inner loop over
both ranges, and the outer index is 0 from then on. That is right for addresses alone: an element's indices are the
quotients and remainders of the new one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def replaced_in(index: Sequence[Any], step: dict[Any, Any]) -> list[Any]:
    """Each part of ``index`` with the variables of ``step`` replaced, all at once."""
    from torch._inductor.utils import sympy_subs

    return [sympy_subs(each, step) if getattr(each, "free_symbols", None) else each for each in index]


def unmerged(body: Any, other: Any, args: Sequence[Sequence[Any]]) -> dict[Any, Any] | None:
    """What the variables of the body ``other`` are in its copy ``body``, which was made with the indices ``args``.

    ``None`` where it cannot be told which loops became one.
    """
    given = dict(zip(other.var_ranges, (each for some in args for each in some)))  # noqa: B905  (CPython 3.9)
    outer = [var for var, value in given.items() if value == 0 and other.var_ranges[var] != 1]
    if not outer:
        return given
    formulas = [each for each in other.indexing_exprs.values() if hasattr(each, "free_symbols")]
    for inner, value in tuple(given.items()):
        if value in body.var_ranges and body.var_ranges[value] != other.var_ranges[inner]:
            given.update(_split(inner, value, body.var_ranges[value], outer, other.var_ranges, formulas))
    return None if outer else given


def _split(
    inner: Any, value: Any, whole: Any, outer: list[Any], ranges: Mapping[Any, Any], formulas: Sequence[Any]
) -> dict[Any, Any]:
    """The loop ``value`` as the loops that became it: ``inner``, and those of ``outer``, which are taken from there."""
    from torch.utils._sympy.functions import FloorDiv, ModularIndexing

    length = ranges[inner]
    found = {inner: ModularIndexing(value, 1, length)}
    strides = [_stride(formula, inner, ranges) for formula in formulas]
    while length != whole:
        wanted = [stride * length for stride in strides]
        following = [var for var in reversed(outer) if [_stride(each, var, ranges) for each in formulas] == wanted]
        if not following:
            break
        outer.remove(following[0])
        size = ranges[following[0]]
        last = length * size == whole
        found[following[0]] = FloorDiv(value, length) if last else ModularIndexing(value, length, size)
        length = length * size
    return found


def _stride(formula: Any, var: Any, ranges: Mapping[Any, Any]) -> Any:
    """How far apart in memory two neighbours along ``var`` are."""
    from torch._inductor.utils import sympy_subs

    nothing = dict.fromkeys(ranges, 0)
    return sympy_subs(formula, {**nothing, var: 1}) - sympy_subs(formula, nothing)
