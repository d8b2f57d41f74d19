"""Parts of a gdb value that classes of several libraries and versions have: members, base classes, arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import gdb

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

REFERENCES = frozenset({gdb.TYPE_CODE_REF, gdb.TYPE_CODE_RVALUE_REF})
A_REFERENCE = "<a reference to what is in no memory>"
CLASSES = frozenset({gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION})
_DEEPEST = 8


def number_in(kind: gdb.Type, index: int) -> int | None:
    """A template argument that is a number; ``None`` where it is a type."""
    argument: Any = kind.template_argument(index)
    return int(argument) if isinstance(argument, gdb.Value) else None


def address_of(value: gdb.Value) -> gdb.Value:
    """A pointer to a value; an error for one that is in no memory."""
    if value.address is None:
        raise gdb.error("a value that is in no memory")
    return value.address


def member(value: gdb.Value, *names: str) -> gdb.Value:
    """The first member that a value has, of these: libraries and their versions call the same thing differently."""
    known = set(_members(value.type))
    for name in names:
        if name in known:
            return value[name]
    raise gdb.error(f"no member {' or '.join(names)}")


def _members(kind: gdb.Type) -> Iterator[str | None]:
    for field in kind.strip_typedefs().fields():
        if field.is_base_class and field.type is not None:
            yield from _members(field.type)
        else:
            yield field.name


def base(value: gdb.Value, prefix: str) -> gdb.Value:
    """The part of a value that is its base class, or that of one, whose name begins with ``prefix``."""
    found = find_base(value, prefix)
    if found is None:
        raise gdb.error(f"no base {prefix}")
    return found


def find_base(value: gdb.Value, prefix: str) -> gdb.Value | None:
    """The part that `base` finds; ``None`` where there is none."""
    for field in value.type.strip_typedefs().fields():
        if field.is_base_class:
            part = value[field]
            if (field.name or "").startswith(prefix):
                return part
            found = find_base(part, prefix)
            if found is not None:
                return found
    return None


def is_in_pieces(value: gdb.Value) -> bool:
    """Whether a value of a class with a reference in it is in no memory: to show or follow that one can end gdb.

    It asserts that a reference to what has no address is a value by itself (``coerce_pieced_ref``, gdb 13 to 16).
    """
    kind = value.type.strip_typedefs()
    return kind.code in CLASSES and value.address is None and _has_reference(kind)


def _has_reference(kind: gdb.Type, depth: int = 0) -> bool:
    name = kind.name or ""
    if name not in _Known.with_reference:
        found = depth < _DEEPEST and any(_is_reference(field.type, depth) for field in kind.fields() if field.type)
        if not name:
            return found
        _Known.with_reference[name] = found
    return _Known.with_reference[name]


def _is_reference(kind: gdb.Type, depth: int) -> bool:
    kind = kind.strip_typedefs()
    while kind.code == gdb.TYPE_CODE_ARRAY:
        kind = kind.target().strip_typedefs()
    return kind.code in REFERENCES or (kind.code in CLASSES and _has_reference(kind, depth + 1))


def is_reference_member(kind: gdb.Type, name: str) -> bool:
    """Whether a class has a member of that name that is a reference."""
    for field in kind.strip_typedefs().fields():
        if field.type is None:
            continue
        if field.is_base_class:
            if is_reference_member(field.type, name):
                return True
        elif field.name == name:
            return field.type.strip_typedefs().code in REFERENCES
    return False


class _Known:
    """Whether the classes of a name have a reference in them."""

    with_reference: ClassVar[dict[str, bool]] = {}


def members_text(value: gdb.Value, text_of: Callable[[gdb.Value], str]) -> str:
    """A value that `is_in_pieces`, member by member, less its references."""
    return f"{{{', '.join(_members_of(value, text_of))}}}"


def _members_of(value: gdb.Value, text_of: Callable[[gdb.Value], str]) -> Iterator[str]:
    for field in value.type.strip_typedefs().fields():
        if not hasattr(field, "bitpos") or field.artificial or field.type is None:
            continue
        if field.is_base_class:
            yield from _members_of(value[field], text_of)
        elif field.type.strip_typedefs().code in REFERENCES:
            yield f"{field.name} = {A_REFERENCE}"
        else:
            yield f"{field.name} = {text_of(value[field])}"
