"""Where the TensorImpl of a gdb value is: of a tensor, of whatever holds one, or of a pointer to either."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import gdb

from pyharness.reading.process.memory import UnreadableError

if TYPE_CHECKING:
    from pyharness.reading.process.memory import Memory

_IMPL = re.compile(r"^(?:\w+::)*\w*TensorImpl$")
_POINTER = re.compile(
    r"""^(?: at::Tensor | at::TensorBase | at::TensorRef | at::OptionalTensorRef | AtenTensorOpaque
         | c10::(?:weak_)?intrusive_ptr<\s*(?:\w+::)*\w*TensorImpl\b.*> )$""",
    re.VERBOSE,
)
_MAYBE_OWNED = re.compile(r"^c10::MaybeOwned<at::Tensor(?:Base)?>$")
_DEREFERENCED = frozenset({gdb.TYPE_CODE_REF, gdb.TYPE_CODE_RVALUE_REF})


def plain_type(kind: gdb.Type) -> gdb.Type:
    """The type without typedefs, references and qualifiers."""
    kind = kind.strip_typedefs()
    while kind.code in _DEREFERENCED:
        kind = kind.target().strip_typedefs()
    return kind.unqualified()


def referred(value: gdb.Value) -> gdb.Value:
    """What a reference refers to, or the value: of a reference gdb prints the address alone."""
    return value.referenced_value() if value.type.strip_typedefs().code in _DEREFERENCED else value


def type_name(kind: gdb.Type) -> str:
    """The name by which a class is recognised; empty for what has none, such as a pointer."""
    return plain_type(kind).name or ""


def holds_tensor(kind: gdb.Type) -> bool:
    """Whether a value of this type is a tensor, holds exactly one, or points to one of those."""
    kind = plain_type(kind)
    if kind.code == gdb.TYPE_CODE_PTR:
        kind = plain_type(kind.target())
    name = kind.name or ""
    return any(pattern.match(name) for pattern in (_IMPL, _POINTER, _MAYBE_OWNED))


def impl_address(memory: Memory, value: gdb.Value) -> int:
    """Address of the TensorImpl of a value that `holds_tensor`; `UnreadableError` where there is none to be read."""
    kind = plain_type(value.type)
    if kind.code == gdb.TYPE_CODE_PTR:
        return _impl_in(memory, type_name(kind.target()), _number(value))
    place = referred(value).address
    if place is not None:
        return _impl_in(memory, kind.name or "", int(place))
    return _in_register(value)


def _number(value: gdb.Value) -> int:
    try:
        return int(referred(value))
    except gdb.error as error:
        raise UnreadableError(str(error)) from error


def _impl_in(memory: Memory, name: str, address: int) -> int:
    """The TensorImpl of an object called ``name`` at ``address``, which debug information may only declare."""
    if not address or _IMPL.match(name):
        return address
    return memory.pointer(address + 8 if _MAYBE_OWNED.match(name) else address)


def _in_register(value: gdb.Value) -> int:
    """The address of a tensor that is in no memory, such as the result of ``finish``."""
    for members in ("impl_.target_", "target_", "ref_.impl_.target_", "own_.impl_.target_"):
        found = _member(value, members)
        if found is not None:
            return int(found)
    raise UnreadableError("a tensor that is in no memory")


def _member(value: gdb.Value, members: str) -> gdb.Value | None:
    try:
        for member in members.split("."):
            value = value[member]
    except gdb.error:
        return None
    return value
