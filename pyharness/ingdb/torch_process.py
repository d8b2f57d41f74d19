"""The torch of the stopped process or core: its memory, its version, the layout of its tensors."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, ClassVar

import gdb

from pyharness.ingdb.process import inferior_memory
from pyharness.ingdb.process.libraries import find_library, libraries, mapping
from pyharness.reading.tensors.installation import CORE, torch_version_of
from pyharness.reading.tensors.layout import MEASURED, TensorLayout, for_version, with_debug_information

if TYPE_CHECKING:
    from pyharness.reading.process.mapped_files import Library

read = inferior_memory.read
_layouts: dict[tuple[str | None, int], TensorLayout] = {}


def torch_library() -> Library | None:
    """The mapped libtorch_cpu, ``None`` in a program without torch."""
    return find_library(CORE)


class _Version:
    """What was found last: each tensor that is shown asks, and all libraries are looked through."""

    mapping: ClassVar[object] = None
    found: ClassVar[str | None] = None


def torch_version() -> str | None:
    """The version of the program's torch, such as ``2.13.0+cpu``, as the library's installation names it."""
    if (now := mapping()) is not _Version.mapping:
        library = torch_library()
        _Version.found = torch_version_of(library.path, (each.path for each in libraries())) if library else None
        _Version.mapping = now
    return _Version.found


def tensor_layout() -> TensorLayout:
    """The layout of this torch: from debug information where the program has it, else by version."""
    key = (torch_version(), len(gdb.objfiles()))
    if key not in _layouts:
        layout = for_version(key[0])
        _layouts[key] = layout if _is_release(key[0]) else with_debug_information(layout, _offset_of)
    return _layouts[key]


def _is_release(version: str | None) -> bool:
    """Whether this torch is one that was measured, and was not built here: gdb need not search for its classes.

    It would read the debug information of every file of the user's that includes torch's headers: seconds.
    """
    library = torch_library()
    measured = version is not None and version.rpartition(".")[0] in MEASURED and "a0" not in version
    return measured and library is not None and ".debug_info" not in library.elf.sections


def _offset_of(class_name: str, members: str) -> int | None:
    """Offset of a member in bytes (of a bit field in bits), ``None`` where the class is only declared."""
    found = _class(class_name, len(gdb.objfiles()))
    if found is None:
        return None
    kind, bits, size = found, 0, 0
    for member in members.split("."):
        field = _field(kind, member)
        if field is None or field.type is None or field.bitpos is None:
            return None
        bits, size, kind = bits + field.bitpos, field.bitsize, field.type.strip_typedefs()
    return bits if size else bits // 8


@lru_cache
def _class(name: str, _files: int) -> gdb.Type | None:
    """A class by its name; gdb searches the debug information of every file for one that is not there."""
    try:
        return gdb.lookup_type(name)
    except gdb.error:
        return None


def _field(kind: gdb.Type, name: str) -> gdb.Field | None:
    """A data member; those of an anonymous union count as the class's own where the union is at its place."""
    if kind.code not in {gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION}:
        return None
    for field in kind.fields():
        if field.name == name and hasattr(field, "bitpos"):
            return field
    return None
