"""Which functions an address is in, inlined ones too, as gdb has them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import gdb

if TYPE_CHECKING:
    from collections.abc import Iterator

_LIBRARIES = re.compile(r"(std|__gnu_cxx|__cxxabiv1|pybind11|nanobind)::")
_TORCH = re.compile(r"(at|c10|torch|caffe2)::")
_TORCHS_SOURCE = re.compile(r"/(aten|c10|torch)/")


def functions_around(pc: int) -> Iterator[tuple[gdb.Symbol, tuple[int, int]]]:
    """Functions that have an address, inlined ones too, the innermost first, each with where its code lies."""
    block = gdb.block_for_pc(pc)
    while block:
        if block.function:
            yield block.function, (block.start, block.end)
        block = block.superblock


def symtab_of(entry: int) -> gdb.Symtab | None:
    """The file of the function that begins at an address, whatever is inlined there."""
    functions = [function for function, _ in functions_around(entry)]
    return functions[-1].symtab if functions else None


def is_of_library(name: str, file: str) -> bool:
    """Whether no line of a file is in a function: compilers, generators of bindings or torch bring it."""
    return bool(_LIBRARIES.match(name)) or bool(_TORCH.match(name) and not _TORCHS_SOURCE.search(file))
