"""The C++ class of a polymorphic object, from its vtable: no debug information, no call into the program."""

from __future__ import annotations

import ctypes
import re
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, cast

from pyharness.reading.process.memory import UnreadableError

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyharness.reading.process.memory import Memory

_MAX_NAME = 2048
_MAX_DEPTH = 12


def class_name(memory: Memory, address: int) -> str | None:
    """The demangled class of the object at ``address``; ``None`` where its vtable leads to no name.

    Itanium C++ ABI: the word before the vtable's address point is its ``type_info``, whose second word is the name.
    """
    try:
        return _type_name(memory, type_info(memory, address))
    except UnreadableError:
        return None


def classes(memory: Memory, address: int) -> list[str]:
    """The class of the object at ``address`` and its only or first bases, in order; as far as they can be read."""
    found: list[str] = []
    try:
        info = type_info(memory, address)
        while info and len(found) < _MAX_DEPTH:
            found.append(_type_name(memory, info))
            info = _first_base(memory, info)
    except UnreadableError:
        pass
    return found


def type_info(memory: Memory, address: int) -> int:
    """Where the ``std::type_info`` of the class is, as which the object at ``address`` was made."""
    return memory.pointer(memory.pointer(address) - 8)


def _type_name(memory: Memory, info: int) -> str:
    mangled = memory.text(memory.pointer(info + 8), _MAX_NAME).removeprefix("*")
    if not re.fullmatch(r"[A-Za-z0-9_.$]+", mangled):
        raise UnreadableError("a type_info without a name")
    return demangle(mangled)


def _first_base(memory: Memory, info: int) -> int:
    """``type_info`` of the base class: which fields it has depends on the class of the ``type_info`` itself."""
    kind = _type_name(memory, type_info(memory, info))
    if kind.endswith("__si_class_type_info"):
        return memory.pointer(info + 16)
    if kind.endswith("__vmi_class_type_info"):
        return memory.pointer(info + 24)
    return 0


_libc = ctypes.CDLL(None)


@lru_cache(maxsize=4096)
def demangle(mangled: str) -> str:
    """The readable form of a mangled type name; itself where no demangler is at hand."""
    demangler = _demangler()
    if demangler is None:
        return mangled
    status = ctypes.c_int()
    text = demangler(mangled.encode(), None, None, ctypes.byref(status))
    if not text:
        return mangled
    try:
        return (ctypes.string_at(text) or b"").decode("utf-8", "replace") if status.value == 0 else mangled
    finally:
        _libc.free(ctypes.c_void_p(text))


@cache
def _demangler() -> Callable[..., int | None] | None:
    """``abi::__cxa_demangle`` of the libstdc++ of this process: gdb itself is written in C++."""
    for name in (None, "libstdc++.so.6"):
        try:
            function: Any = getattr(ctypes.CDLL(name), "__cxa_demangle")
        except (OSError, AttributeError):
            continue
        function.restype = ctypes.c_void_p
        function.argtypes = [ctypes.c_char_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p]
        return cast("Callable[..., int | None]", function)
    return None
