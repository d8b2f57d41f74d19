"""Parts of a gdb value that classes of several libraries and versions have: members, base classes, arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import gdb

if TYPE_CHECKING:
    from collections.abc import Iterator


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
