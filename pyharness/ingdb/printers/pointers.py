"""How smart pointers are shown: by what they point to."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import gdb

from pyharness.ingdb.printers.registry import holds, shows, text_of
from pyharness.ingdb.tensors.address import plain_type
from pyharness.ingdb.tensors.members import base, member

if TYPE_CHECKING:
    from collections.abc import Callable

    Pointer = Callable[[gdb.Value], gdb.Value]

_COUNTED = r"std::(?:shared|weak)_ptr<.*>"
_ATOMIC = r"std::atomic<std::(?:shared|weak)_ptr<.*>\s*>"
_UNIQUE = r"std::unique_ptr<.*>"
_INTRUSIVE = r"c10::(?:weak_)?intrusive_ptr<.*>"
_REFERENCE = r"std::reference_wrapper<.*>"
_BORROWED = r"c10::MaybeOwned<.*>"
_UNKNOWN = frozenset({gdb.TYPE_CODE_VOID, gdb.TYPE_CODE_FUNC})


@shows(_COUNTED)
def _counted(value: gdb.Value) -> str:
    pointer, counts = value["_M_ptr"], value["_M_refcount"]["_M_pi"]
    both = (int(counts["_M_use_count"]), int(counts["_M_weak_count"])) if int(counts) else None
    return counted_text(pointer, both)


def counted_text(pointer: gdb.Value, counts: tuple[int, int] | None) -> str:
    """What such a pointer points to, and how many own it and watch it; ``None`` where nobody counts."""
    if counts is None:
        return _shown(pointer)
    uses, weak = counts
    weak -= uses > 0  # all its owners together hold it once
    said = f"{uses} owner{'s' * (uses != 1)}" + (f", {weak} weak" if weak else "")
    return f"{_shown(pointer)} ({said})" if uses > 0 else f"expired ({weak} weak)"


@holds(_COUNTED)
def _in_counted(value: gdb.Value) -> gdb.Value | None:
    counts = value["_M_refcount"]["_M_pi"]
    alive = int(counts) == 0 or int(counts["_M_use_count"]) > 0
    return pointee(value["_M_ptr"]) if alive else None


@shows(_ATOMIC)
def _atomic(value: gdb.Value) -> str:
    pointer, counts = _of_atomic(value)
    return counted_text(pointer, counts)


@holds(_ATOMIC)
def _in_atomic(value: gdb.Value) -> gdb.Value | None:
    pointer, counts = _of_atomic(value)
    return pointee(pointer) if counts is None or counts[0] > 0 else None


def _of_atomic(value: gdb.Value) -> tuple[gdb.Value, tuple[int, int] | None]:
    """The pointer, and its counts, whose address has a bit for a lock."""
    held = value["_M_impl"]
    counts = held["_M_refcount"]["_M_val"]
    while counts.type.strip_typedefs().code == gdb.TYPE_CODE_STRUCT:
        counts = member(counts, "_M_base", "_M_i")
    found = int(counts) & ~1
    if not found:
        return held["_M_ptr"], None
    base_class = gdb.lookup_type("std::_Sp_counted_base<(__gnu_cxx::_Lock_policy)2>").pointer()
    both = gdb.Value(found).cast(base_class)
    return held["_M_ptr"], (int(both["_M_use_count"]), int(both["_M_weak_count"]))


def shows_pointee(pattern: str) -> Callable[[Pointer], Pointer]:
    """Register the pointer in such values: they are shown by what it points to, and expand into it."""

    def register_pointer(pointer: Pointer) -> Pointer:
        shows(pattern)(lambda value: _shown(pointer(value)))
        holds(pattern)(lambda value: pointee(pointer(value)))
        return pointer

    return register_pointer


@shows_pointee(_UNIQUE)
def _owned(value: gdb.Value) -> gdb.Value:
    return base(value["_M_t"]["_M_t"], "std::_Head_base<0")["_M_head_impl"]


@shows_pointee(_INTRUSIVE)
def _target(value: gdb.Value) -> gdb.Value:
    return value["target_"]


@shows_pointee(_REFERENCE)
def _referent(value: gdb.Value) -> gdb.Value:
    return value["_M_data"]


@shows(_BORROWED)
def _borrowed(value: gdb.Value) -> str:
    return f"{'borrowed' if value['isBorrowed_'] else 'owned'} {text_of(_held(value))}"


@holds(_BORROWED)
def _in_borrowed(value: gdb.Value) -> gdb.Value | None:
    return _held(value)


def _held(value: gdb.Value) -> gdb.Value:
    held = value["borrow_"] if value["isBorrowed_"] else value["own_"]
    return held.dereference() if held.type.strip_typedefs().code == gdb.TYPE_CODE_PTR else held


def pointee(pointer: gdb.Value) -> gdb.Value | None:
    """What a pointer points to, as the class that it really is; ``None`` where it points to nothing that is known."""
    if not int(pointer) or plain_type(pointer.type.strip_typedefs().target()).code in _UNKNOWN:
        return None
    with contextlib.suppress(gdb.error):  # memory that was freed, or a class that debug information does not know
        pointer = pointer.cast(pointer.dynamic_type)
    return pointer.dereference()


def _shown(pointer: gdb.Value) -> str:
    if not int(pointer):
        return "nullptr"
    found = pointee(pointer)
    kind = plain_type(found.type) if found is not None else None
    if found is None or kind is None or (kind.code == gdb.TYPE_CODE_STRUCT and not kind.fields()):
        return f"{int(pointer):#x}"
    return f"→ {text_of(found)}"
