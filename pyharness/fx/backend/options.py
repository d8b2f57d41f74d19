"""What may stand in ``torch.compile(..., backend="pyharness", options={...})``."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any

from torch._dynamo.exc import ShortenTraceback

from pyharness.model.errors import UsageError, nearest

Table = Mapping[Any, Callable[..., Any]]
DECOMPOSITIONS = ("none", "core_aten", "inductor")
PARTITIONS = ("default", "min_cut")


class OptionError(UsageError, ShortenTraceback):
    """An option that cannot be meant; torch shows it without the frames of its own compiler."""

    def __init__(self, message: str, remedy: str = "") -> None:
        ShortenTraceback.__init__(self, message, first_useful_frame=sys._getframe(1))  # noqa: SLF001
        self.message, self.remedy = message, remedy


@dataclass(frozen=True)
class Options:
    """How captured graphs are lowered before they run."""

    aot: bool = True
    """Whether AOT autograd makes a forward and a backward graph of ATen ops; else Dynamo's own graph runs."""
    decompositions: str | Table = "none"
    """ATen ops that are taken apart: one of ``DECOMPOSITIONS``, or a table from op to function. Ops of your own stay
    one call each unless the table has them."""
    partition: str = "default"
    """What backward recomputes: ``default`` nothing, as eager; ``min_cut`` what inductor would."""
    folder: str = ""
    """Where the files go: the private state folder when empty."""

    def table(self) -> Table | None:
        """The decompositions themselves."""
        if not isinstance(self.decompositions, str):
            return self.decompositions
        if self.decompositions == "core_aten":
            from torch._decomp import core_aten_decompositions

            return dict(core_aten_decompositions())
        if self.decompositions == "inductor":
            from torch._inductor.decomposition import select_decomp_table

            return dict(select_decomp_table())
        return None

    def partitioner(self) -> Callable[..., Any]:
        """What splits the joint graph."""
        from torch._functorch.partitioners import default_partition, min_cut_rematerialization_partition

        return min_cut_rematerialization_partition if self.partition == "min_cut" else default_partition


def read(given: Mapping[str, Any] | None) -> Options:
    """The options as torch passes them; ``OptionError`` names the one that cannot be meant."""
    given = dict(given or {})
    known = [each.name for each in fields(Options)]
    for name in given:
        if name not in known:
            remedy = nearest(name, known) or f"Its options are {', '.join(known)}."
            raise OptionError(f"The backend pyharness has no option {name!r}.", remedy)
    options = Options(**given)
    _check("aot", options.aot, isinstance(options.aot, bool), "True or False")
    table = not isinstance(options.decompositions, str) and isinstance(options.decompositions, Mapping)
    _check_word("decompositions", options.decompositions, DECOMPOSITIONS, " or a table", other=table)
    _check_word("partition", options.partition, PARTITIONS)
    _check("folder", options.folder, isinstance(options.folder, str), "a path")
    return options


def _check_word(name: str, value: Any, words: tuple[str, ...], more: str = "", *, other: bool = False) -> None:
    fits = other or (isinstance(value, str) and value in words)
    _check(name, value, fits, ", ".join(repr(word) for word in words) + more)


def _check(name: str, value: Any, fits: bool, wanted: str) -> None:  # noqa: FBT001  (the outcome of a check)
    if not fits:
        shown = repr(value) if isinstance(value, str | int | float | bool | None) else type(value).__name__
        raise OptionError(f"The option {name!r} of the backend pyharness cannot be {shown}.", f"It takes {wanted}.")
