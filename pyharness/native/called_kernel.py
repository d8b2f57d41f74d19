"""A call of a kernel of torch.compile's: its tensors, which a wrapper in C++ passes as pointers, and who called."""

from __future__ import annotations

import ctypes
import re
import sys
from typing import TYPE_CHECKING, Any

from pyharness.model.kernel_text import computed, is_written_first
from pyharness.native.chains import calls_from

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import torch
    from typing_extensions import Self

    from pyharness.model.kernel_files import Kernel, Wrapper
    from pyharness.model.kernel_map import KernelBuffer, KernelUse
    from pyharness.model.results.trace import Call
    from pyharness.native.kernel_libraries import KernelLibrary, Site

_OURS = "/pyharness/native/"


class CalledKernel:
    """A call of a kernel, with what it reads as that was before."""

    def __init__(self, wrapper: Wrapper, kernel: Kernel, args: dict[str, Any], site: Site | None = None) -> None:
        self.wrapper = wrapper
        self.kernel = kernel
        self.args = args
        self.site = site
        """What called, where that is C++."""
        self.line = site.line if site else 0
        tensors = {name: each for name, each in args.items() if hasattr(each, "data_ptr")}
        written_to = {each.name for each in kernel.parameters if each.is_written}
        self.outputs = {name: each for name, each in tensors.items() if name in written_to}
        written = {each.untyped_storage().data_ptr() for each in self.outputs.values()}
        self.inputs = {
            name: each.detach().clone() if each.untyped_storage().data_ptr() in written else each
            for name, each in tensors.items()
            if (name.startswith("in_") or name not in written_to) and not is_written_first(kernel.source, name)
        }

    def use(self, text: str) -> KernelUse | None:
        """The part of the kernel's map that is of this call."""
        found = self.wrapper.map_of(self.kernel)
        call = re.compile(rf"\s*{re.escape(self.kernel.name)}\(")
        lines = [number for number, each in enumerate(text.split("\n"), 1) if call.match(each)]
        if found is None or self.line not in lines or lines.index(self.line) >= len(found.uses):
            return None
        return found.uses[lines.index(self.line)]

    def calls(self) -> tuple[Call, ...]:
        """Who called it, innermost first."""
        python = tuple(each for each in calls_from(sys._getframe(1)) if not _is_ours(each))  # noqa: SLF001
        return (self.site.call(python), *python) if self.site else python


class Taker:
    """A kernel that a wrapper in C++ calls: what it is given as numbers becomes tensors."""

    def __init__(self, library: KernelLibrary, kernel: Kernel) -> None:
        self.kernel = kernel
        self.parameters = kernel.parameters
        self._library = library
        self._callers: dict[int, tuple[Site, Wrapper, tuple[KernelBuffer, ...]] | None] = {}
        """By the address behind a call: where it is, and what it passes."""

    @classmethod
    def of(cls, library: KernelLibrary, name: str) -> Self | None:
        """The kernel of a library; ``None`` where it takes what is not known, or passed otherwise."""
        kernel = library.kernel(name)
        found = cls(library, kernel) if kernel else None
        return found if found and all(each.is_integer for each in found.parameters) else None

    def called(self, back: int, given: Sequence[int]) -> CalledKernel | None:
        """A call of it; ``None`` where there is no map, which says what pointers point to."""
        if back not in self._callers:
            self._callers[back] = self._caller(back)
        caller = self._callers[back]
        if caller is None:
            return None
        site, wrapper, buffers = caller
        return CalledKernel(wrapper, self.kernel, self._arguments(given, buffers), site)

    def _caller(self, back: int) -> tuple[Site, Wrapper, tuple[KernelBuffer, ...]] | None:
        site = self._library.site(self.kernel.name, back)
        wrapper = self._library.wrapper(site, self.kernel) if site else None
        found = wrapper.map_of(self.kernel) if wrapper else None
        return (site, wrapper, found.uses[0].buffers) if site and wrapper and found and found.uses else None

    def _arguments(self, given: Sequence[int], buffers: Iterable[KernelBuffer]) -> dict[str, torch.Tensor | int]:
        """What it was given, by its own names: numbers, and tensors over the memory that it computes in."""
        found: dict[str, Any] = dict(zip((each.name for each in self.parameters), given))  # noqa: B905  (CPython 3.9)
        numbers = {each.name: found[each.name] for each in self.parameters if not each.is_buffer}
        for buffer in buffers:
            if buffer.name in found and (tensor := _tensor(found[buffer.name], buffer, numbers)) is not None:
                found[buffer.name] = tensor
        return found


def _tensor(pointer: int, buffer: KernelBuffer, numbers: Mapping[str, int]) -> torch.Tensor | None:
    import torch

    try:
        shape, strides = ([computed(each, numbers.__getitem__) for each in of] for of in (buffer.shape, buffer.strides))
    except (ValueError, KeyError):  # a size that this kernel does not take
        return None
    dtype = getattr(torch, buffer.dtype)
    if not all(shape):
        return torch.empty(shape, dtype=dtype)
    count = 1 + sum((size - 1) * stride for size, stride in zip(shape, strides))  # noqa: B905  (CPython 3.9)
    memory = (ctypes.c_char * (count * dtype.itemsize)).from_address(pointer)
    return torch.frombuffer(memory, dtype=dtype, count=count).as_strided(shape, strides)


def _is_ours(call: Call) -> bool:
    return _OURS in call.file
