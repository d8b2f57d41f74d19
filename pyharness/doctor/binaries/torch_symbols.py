"""Whether a library can be linked to a torch: what it wants of torch's namespaces, looked up in torch's libraries."""

from __future__ import annotations

import ctypes
import re
from typing import TYPE_CHECKING

from pyharness.reading.binaries.dynamic_section import dynamic
from pyharness.reading.binaries.elf import Elf, ElfError, open_elf

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# Mangled names that live in torch's namespaces, not those that have its types among their arguments.
_OF_TORCH = re.compile(rb"_Z(?:T[IVS])?(?:G[VR])?N[VKRO]*(?:2at|3c10|5torch|6caffe2)|(?:aoti_)?torch_|THP")
_LIBRARIES = ("libtorch", "libc10")
_OF_DEVICES = re.compile(rb"4cuda|3hip")
_OLD_STRING = re.compile(rb"(?:RK|R|O|E|P)Ss")
"""``std::string`` as it was mangled before GCC 5's ABI, as an argument: not two letters of a name."""


def uses_torch(elf: Elf) -> bool:
    """Whether a library is linked to torch, or wants something of it: linkers can leave out what they were told."""
    return any(name.startswith(_LIBRARIES) for name in dynamic(elf).needed) or any(map(_OF_TORCH.match, elf.wanted()))


def unresolved(elf: Elf, torch_libraries: Path) -> list[bytes]:
    """The (mangled) names of torch's that neither torch nor a library beside this one defines."""
    providers = list(_providers(elf, torch_libraries))
    return [name for name in elf.wanted() if _OF_TORCH.match(name) and not any(one.exported(name) for one in providers)]


def _providers(elf: Elf, torch_libraries: Path) -> Iterator[Elf]:
    yield elf
    paths = [*map(str, sorted(torch_libraries.glob("*.so*"))), *dynamic(elf).found()]
    for path in dict.fromkeys(paths):
        try:
            yield open_elf(path)
        except ElfError:  # noqa: PERF203  (a linker script, say)
            continue


def cause(names: list[bytes]) -> str:
    """What a library that wants these was built for, and what to do."""
    if all(_OF_DEVICES.search(name) for name in names):
        return "It was built for a torch with CUDA or ROCm: rebuild it, or install that torch."
    if any(b"St3__1" in name for name in names):
        return "It was built with libc++, and torch with libstdc++: rebuild it with -stdlib=libstdc++."
    if any(_OLD_STRING.search(name) and b"cxx11" not in name for name in names):
        return "It was built with the old C++ ABI: rebuild it with -D_GLIBCXX_USE_CXX11_ABI=1, as torch is."
    return "It was built against another torch: rebuild it."


def readable(name: bytes) -> str:
    """A mangled name as its author wrote it, cut to a line's length; as it is where it cannot be undone."""
    try:
        demangle = ctypes.CDLL("libstdc++.so.6").__cxa_demangle  # noqa: SLF001  (its public name)
    except (OSError, AttributeError):
        return name.decode(errors="replace")
    demangle.restype = ctypes.c_void_p
    demangle.argtypes = [ctypes.c_char_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.POINTER(ctypes.c_int)]
    status = ctypes.c_int()
    found = demangle(name, None, None, ctypes.byref(status))
    text = ctypes.string_at(found) if found else name
    ctypes.CDLL(None).free(ctypes.c_void_p(found))
    return text.decode(errors="replace")[:120]
