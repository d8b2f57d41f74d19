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
_STABLE = "torch::stable::Tensor"
"""The tensor of the stable ABI, which shares the ownership of one on the heap."""
_MAYBE_OWNED = re.compile(r"^c10::MaybeOwned<at::Tensor(?:Base)?>$")
_OPTIONAL = ("std::optional<at::Tensor", f"std::optional<{_STABLE}")
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


def holds_torch_tensor(kind: gdb.Type) -> bool:
    """Whether a value of this type is a tensor of torch's, holds exactly one, or points to one of those."""
    name = class_name(kind)
    return name == _STABLE or any(pattern.match(name) for pattern in (_IMPL, _POINTER, _MAYBE_OWNED))


def is_optional_tensor(kind: gdb.Type) -> bool:
    """Whether a value of this type is an optional of a tensor of torch's, or points to one."""
    return class_name(kind).startswith(_OPTIONAL)


def class_name(kind: gdb.Type) -> str:
    """The name of a class, or of the class that a pointer points to; empty for what has none."""
    kind = plain_type(kind)
    return type_name(kind.target() if kind.code == gdb.TYPE_CODE_PTR else kind)


def impl_address(memory: Memory, value: gdb.Value) -> int:
    """Address of the TensorImpl of a value that `holds_torch_tensor`; `UnreadableError` where none can be read."""
    kind = plain_type(value.type)
    if kind.code == gdb.TYPE_CODE_PTR:
        return _impl_in(memory, type_name(kind.target()), _number(value))
    place = referred(value).address
    if place is not None:
        return _impl_in(memory, kind.name or "", int(place))
    return _in_register(memory, value)


def _number(value: gdb.Value) -> int:
    try:
        return int(referred(value))
    except gdb.error as error:
        raise UnreadableError(str(error)) from error


def _impl_in(memory: Memory, name: str, address: int) -> int:
    """The TensorImpl of an object called ``name`` at ``address``, which debug information may only declare."""
    if not address or _IMPL.match(name):
        return address
    if name == _STABLE:
        handle = memory.pointer(address)
        return memory.pointer(handle) if handle else 0
    return memory.pointer(address + 8 if _MAYBE_OWNED.match(name) else address)


def _in_register(memory: Memory, value: gdb.Value) -> int:
    """The address of a tensor that is in no memory, such as the result of ``finish``."""
    for members in ("impl_.target_", "target_", "ref_.impl_.target_", "own_.impl_.target_"):
        found = _member(value, members)
        if found is not None:
            return int(found)
    for members in ("ath_._M_ptr", "ath_.__ptr_"):  # libstdc++'s and libc++'s std::shared_ptr
        handle = _member(value, members)
        if handle is not None:
            return memory.pointer(int(handle)) if int(handle) else 0
    raise UnreadableError("a tensor that is in no memory")


def _member(value: gdb.Value, members: str) -> gdb.Value | None:
    try:
        for member in members.split("."):
            value = value[member]
    except gdb.error:
        return None
    return value
