"""Members of what optimized code keeps in pieces, in expressions: ``view.rows * 2``, on which gdb can crash.

gdb 13 fails an assertion where it computes with such a member; 13 to 16 do where the member is a reference to what has
no address. So a member is read by itself, and stands in the expression as a variable of gdb's own.
"""

from __future__ import annotations

import re

import gdb

from pyharness.ingdb.tensors.members import CLASSES, is_reference_member

_MEMBERS = re.compile(r"(?<![\w.>:$])([A-Za-z_]\w*)((?:\s*\.\s*[A-Za-z_]\w*)+)(?!\s*\()")
_NAME = re.compile(r"[A-Za-z_]\w*")
_VARIABLE = "pyharness_part"
_CHANGES = re.compile(r"\+\+|--|(?<![=!<>])=(?!=)|<<=|>>=|&\s*$")
"""What needs the member itself."""


def read(expression: str) -> str:
    """``expression`` with members of what is in pieces as variables; ``gdb.error`` where one is a lost reference."""
    replaced, end = [], 0
    for number, found in enumerate(_MEMBERS.finditer(expression)):
        value = _member_of_pieces(found[1], _NAME.findall(found[2]))
        if value is None or found[0] == expression.strip() or _CHANGES.search(expression):
            continue
        value.fetch_lazy()
        gdb.set_convenience_variable(f"{_VARIABLE}_{number}", value)
        replaced += [expression[end : found.start()], f"${_VARIABLE}_{number}"]
        end = found.end()
    return "".join([*replaced, expression[end:]])


def _member_of_pieces(name: str, members: list[str]) -> gdb.Value | None:
    """The member behind a variable that is in no memory; ``None`` where the variable is in some, or is none."""
    value = _variable(name)
    path = name
    for member in members:
        if value is None or value.type.strip_typedefs().code not in CLASSES or value.address is not None:
            return None
        path = f"{path}.{member}"
        if is_reference_member(value.type, member):
            raise gdb.error(f"{path} is a reference to what is in no memory.")
        value = _member(value, member)
    return value


def _variable(name: str) -> gdb.Value | None:
    try:
        symbol = gdb.lookup_symbol(name)[0]
        return symbol.value(gdb.selected_frame()) if symbol and (symbol.is_variable or symbol.is_argument) else None
    except (gdb.error, RuntimeError, TypeError):
        return None


def _member(value: gdb.Value, name: str) -> gdb.Value | None:
    try:
        return value[name]
    except gdb.error:
        return None
