"""How types and places in source code are shown that a program holds: ``std::type_info``, ``std::source_location``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyharness.ingdb.printers.registry import shows
from pyharness.ingdb.process.inferior_memory import read
from pyharness.ingdb.tensors.members import address_of, member
from pyharness.reading.functions.cxx_class import demangle
from pyharness.reading.process.memory import Memory

if TYPE_CHECKING:
    import gdb

_NAME_AT = 8
"""Where a ``std::type_info`` has its name, whatever its class: Itanium C++ ABI."""


@shows(r"std::(?:__1::)?type_index")
def _type_index(value: gdb.Value) -> str:
    return _type_at(int(member(value, "_M_target", "__t_")))


@shows(r"std::type_info")
def _type_info(value: gdb.Value) -> str:
    return _type_at(int(address_of(value)))


def _type_at(address: int) -> str:
    memory = Memory(read)
    return demangle(memory.text(memory.pointer(address + _NAME_AT), 2048).removeprefix("*"))


@shows(r"std::(?:__1::)?source_location")
def _source_location(value: gdb.Value) -> str:
    place = member(value, "_M_impl", "__ptr_")
    if not int(place):
        return "nowhere"
    file, function = (member(place.dereference(), f"_M_{name}", f"_{name}") for name in ("file_name", "function_name"))
    line = int(member(place.dereference(), "_M_line", "_Line"))
    return f"{file.string()}:{line} in {function.string()}"
