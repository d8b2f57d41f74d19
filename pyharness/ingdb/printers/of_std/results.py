"""How futures and promises of the standard library are shown: by what came of them.

Most classes behind them are declared in programs and defined in the library: what they have is found by its offset.
The layouts are those of libstdc++'s ABI (``std::__future_base``) and of libc++'s (``__assoc_sub_state``).
"""

from __future__ import annotations

import gdb

from pyharness.ingdb.printers.registry import shows, text_of
from pyharness.ingdb.process.inferior_memory import read
from pyharness.ingdb.tensors.address import plain_type
from pyharness.ingdb.tensors.members import REFERENCES, member
from pyharness.reading.functions.cxx_class import class_name
from pyharness.reading.process.memory import Memory

_KINDS = r"std::(?:__1::)?(?:future|shared_future|promise)<.*>"
_NOBODY = "no state: it was moved from, or its result was taken"
_WAITS = "not ready"
_ON_DEMAND = f"{_WAITS}: it is computed when it is asked for"
_DEFERRED = "std::__future_base::_Deferred_state<"
_GCC_RESULT, _GCC_ERROR, _GCC_VALUE = 8, 8, 16
"""Offset of the result in the state, and of the exception and the value in the result."""
_LIBCXX_ERROR, _LIBCXX_FLAGS, _LIBCXX_VALUE = 16, 112, 116
_IS_READY, _IS_DEFERRED = 1 | 4, 8
"""Bits of libc++'s flags: a value was made, or it is ready; it is computed on demand."""


@shows(_KINDS)
def _future(value: gdb.Value) -> str:
    kind = plain_type(value.type)
    is_libcxx = (kind.name or "").startswith("std::__1::")
    state = int(value["__state_"] if is_libcxx else member(value, "_M_state", "_M_future")["_M_ptr"])
    if not state:
        return _NOBODY
    return (_of_libcxx if is_libcxx else _of_gcc)(Memory(read), state, kind.template_argument(0))


def _of_gcc(memory: Memory, state: int, kind: gdb.Type) -> str:
    result = memory.pointer(state + _GCC_RESULT)
    if not result:
        return _ON_DEMAND if (class_name(memory, state) or "").startswith(_DEFERRED) else _WAITS
    if memory.pointer(result + _GCC_ERROR):
        return _failed(result + _GCC_ERROR, "std::__exception_ptr::exception_ptr")
    return _ready(memory, result + _GCC_VALUE, kind)


def _of_libcxx(memory: Memory, state: int, kind: gdb.Type) -> str:
    flags = memory.unsigned(state + _LIBCXX_FLAGS, 4)
    if memory.pointer(state + _LIBCXX_ERROR):
        return _failed(state + _LIBCXX_ERROR, "std::exception_ptr")
    if flags & _IS_READY:
        return _ready(memory, state + _LIBCXX_VALUE, kind)
    return _ON_DEMAND if flags & _IS_DEFERRED else _WAITS


def _failed(address: int, name: str) -> str:
    error = gdb.Value(address).cast(gdb.lookup_type(name).pointer()).dereference()
    return f"an exception: {text_of(error)}"


def _ready(memory: Memory, begin: int, kind: gdb.Type) -> str:
    """The value that lies at ``begin``, or at the next address that suits it."""
    plain = kind.strip_typedefs()
    if plain.code == gdb.TYPE_CODE_VOID:
        return "ready"
    refers = plain.code in REFERENCES
    alignment = 8 if refers else plain.alignof
    address = -(-begin // alignment) * alignment
    if refers:
        address = memory.pointer(address)
    found = gdb.Value(address).cast((plain.target() if refers else kind).pointer()).dereference()
    return f"ready: {text_of(found)}"
