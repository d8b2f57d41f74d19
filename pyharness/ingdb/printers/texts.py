"""How C++ strings are shown: all that a line has room for, as they are written in C++."""

from __future__ import annotations

import gdb

from pyharness.ingdb.printers.registry import MAX_LENGTH, Room, shows

_STRING = r"std::(?:__cxx11::)?basic_string<(?:char|wchar_t|char8_t|char16_t|char32_t)\b.*>"
_VIEW = r"std::basic_string_view<.*>|c10::(?:basic_)?string_view(?:<.*>)?"


@shows(_STRING)
def _string(value: gdb.Value) -> str:
    first = value["_M_dataplus"]["_M_p"]
    if any(field.name == "_M_string_length" for field in value.type.strip_typedefs().fields()):
        return quoted(first, int(value["_M_string_length"]))
    size = gdb.lookup_type("unsigned long")  # before GCC 5: length, capacity and count lie before the text
    return quoted(first, int((first.cast(size.pointer()) - 3).dereference()))


@shows(_VIEW)
def _view(value: gdb.Value) -> str:
    names = [field.name for field in value.type.strip_typedefs().fields()]
    data, length = ("_M_str", "_M_len") if "_M_str" in names else ("ptr_", "size_")
    return quoted(value[data], int(value[length]))


@shows(r"std::filesystem::(?:__cxx11::)?path")
def _path(value: gdb.Value) -> str:
    return _string(value["_M_pathname"])


def quoted(first: gdb.Value, length: int) -> str:
    """``length`` characters from the pointer ``first`` on, in quotes."""
    if not 0 <= length < MAX_LENGTH:
        return f"<corrupt: a length of {length}>"
    if length == 0:
        return '""'
    shown = min(length, Room.characters)
    kind = first.type.strip_typedefs().target().unqualified().array(shown - 1)
    text = first.cast(kind.pointer()).dereference().format_string(max_elements=0, repeat_threshold=0)
    return text if shown == length else f"{text}… ({length})"
