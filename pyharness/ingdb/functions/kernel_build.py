"""How the compiler built a kernel of inductor's: optimized, as torch does, or with its variables."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pyharness.model.kernel_elements import OPTIMIZED
from pyharness.model.kernel_frames import has_map, is_kernel, name_in_cxx

if TYPE_CHECKING:
    import gdb

UNMAPPED = (
    "This kernel of torch.compile's was compiled without pyharness, so that nobody knows which line works for which "
    "node. `pyharness fx compiled SCRIPT` runs the program once and makes the map."
)
_FLAG = re.compile(r"(?:^| )-O([1-3s]|fast)\b")


def hint_at(frame: gdb.Frame) -> str:
    """What to know of the kernel that a frame is in; empty for one that can be read, and for what is no kernel."""
    symtab = frame.find_sal().symtab
    if symtab is None or not is_kernel(symtab.fullname()):
        return ""
    if not has_map(symtab.fullname()):
        return UNMAPPED
    return OPTIMIZED if is_optimized(frame) else ""


def is_optimized(frame: gdb.Frame) -> bool:
    """Whether a kernel's function lacks variables, or the compiler says that it optimized."""
    try:
        block: gdb.Block | None = frame.block()
    except RuntimeError:  # no debug information
        return True
    while block is not None and not (block.is_global or block.is_static):
        for symbol in block:
            if symbol.is_variable or symbol.is_argument:
                return _FLAG.search(symbol.symtab.producer or "") is not None
        block = block.superblock
    return True


def is_rest_of_kernel(frame: gdb.Frame, part: gdb.Frame) -> bool:
    """Whether ``part`` is what OpenMP runs in parallel of the kernel that ``frame`` is in, which called it for that.

    Both are one kernel to whoever steps: who leaves the part has left the kernel.
    """
    name, symtab = part.name() or "", part.find_sal().symtab
    kernel = name_in_cxx(name)
    if not kernel or kernel == name or symtab is None or frame.name() != kernel:
        return False
    around = frame.find_sal().symtab
    return around is not None and around.fullname() == symtab.fullname() and is_kernel(symtab.fullname())
