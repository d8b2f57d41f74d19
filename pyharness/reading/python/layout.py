"""Where the fields of one CPython's structs lie: measured tables, and what the process itself says from 3.13 on."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from pyharness.model.errors import HarnessError
from pyharness.model.frozen import frozen
from pyharness.reading.python import free_threaded, tables

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

COOKIE = b"xdebugpy"
SUPPORTED = "3.9 to 3.15"
SUPPORTED_FREE_THREADED = "3.13"

# `_Py_DebugOffsets` (Include/internal/pycore_debug_offsets.h): after the cookie, the version and the free-threaded
# flag, groups of 64-bit offsets. 3.14 and 3.15 added fields in the middle of groups, so each version has its own list.
_GROUPS_3_13 = {
    "runtime_state": "size finalizing interpreters_head",
    "interpreter_state": "size id next threads_head gc imports_modules sysdict builtins ceval_gil gil_runtime_state"
    " gil_runtime_state_enabled gil_runtime_state_locked gil_runtime_state_holder",
    "thread_state": "size prev next interp current_frame thread_id native_thread_id datastack_chunk status",
    "interpreter_frame": "size previous executable instr_ptr localsplus owner",
    "code_object": "size filename name qualname linetable firstlineno argcount localsplusnames localspluskinds"
    " co_code_adaptive",
    "pyobject": "size ob_type",
    "type_object": "size tp_name tp_repr tp_flags",
    "tuple_object": "size ob_item ob_size",
    "list_object": "size ob_item ob_size",
    "dict_object": "size ma_keys ma_values",
    "float_object": "size ob_fval",
    "long_object": "size lv_tag ob_digit",
    "bytes_object": "size ob_size ob_sval",
    "unicode_object": "size state length asciiobject_size",
}
_GROUPS_3_14 = {}
for _name, _fields in _GROUPS_3_13.items():  # in order: `set_object` came between list and dict
    _GROUPS_3_14[_name] = _fields
    if _name == "list_object":
        _GROUPS_3_14["set_object"] = "size used table mask"
_GROUPS_3_14 |= {
    "interpreter_state": "size id next threads_head threads_main gc imports_modules sysdict builtins ceval_gil"
    " gil_runtime_state gil_runtime_state_enabled gil_runtime_state_locked gil_runtime_state_holder"
    " code_object_generation tlbc_generation",
    "interpreter_frame": _GROUPS_3_13["interpreter_frame"] + " stackpointer tlbc_index",
    "code_object": _GROUPS_3_13["code_object"] + " co_tlbc",
}
_GROUPS_3_15 = {}
for _name, _fields in _GROUPS_3_14.items():  # two new groups, each behind another
    _GROUPS_3_15[_name] = _fields
    if _name == "thread_state":
        _GROUPS_3_15["err_stackitem"] = "exc_value"
    if _name == "type_object":
        _GROUPS_3_15["heap_type_object"] = "size ht_cached_keys"
_GROUPS_3_15 |= {
    "thread_state": "size prev next interp current_frame base_frame last_profiled_frame last_profiled_frame_seq"
    " thread_id native_thread_id datastack_chunk status holds_gil gil_requested current_exception exc_state",
    "type_object": _GROUPS_3_14["type_object"] + " tp_basicsize tp_dictoffset",
}
_GROUPS = {(3, 13): _GROUPS_3_13, (3, 14): _GROUPS_3_14, (3, 15): _GROUPS_3_15}

_KEYS = {
    "runtime.interpreters_head": "runtime_state.interpreters_head",
    "interpreter.id": "interpreter_state.id",
    "interpreter.next": "interpreter_state.next",
    "interpreter.threads_head": "interpreter_state.threads_head",
    "interpreter.modules": "interpreter_state.imports_modules",
    "interpreter.ceval_gil": "interpreter_state.ceval_gil",
    "thread.next": "thread_state.next",
    "thread.interp": "thread_state.interp",
    "thread.current_frame": "thread_state.current_frame",
    "thread.thread_id": "thread_state.thread_id",
    "thread.native_thread_id": "thread_state.native_thread_id",
    "frame.previous": "interpreter_frame.previous",
    "frame.code": "interpreter_frame.executable",
    "frame.instruction": "interpreter_frame.instr_ptr",
    "frame.localsplus": "interpreter_frame.localsplus",
    "frame.owner": "interpreter_frame.owner",
    "code.filename": "code_object.filename",
    "code.name": "code_object.name",
    "code.qualname": "code_object.qualname",
    "code.linetable": "code_object.linetable",
    "code.firstlineno": "code_object.firstlineno",
    "code.localsplusnames": "code_object.localsplusnames",
    "code.localspluskinds": "code_object.localspluskinds",
    "code.code": "code_object.co_code_adaptive",
    "object.ob_type": "pyobject.ob_type",
    "type.tp_name": "type_object.tp_name",
    "type.tp_flags": "type_object.tp_flags",
    "tuple.ob_item": "tuple_object.ob_item",
    "tuple.ob_size": "tuple_object.ob_size",
    "list.ob_item": "list_object.ob_item",
    "list.ob_size": "list_object.ob_size",
    "dict.ma_keys": "dict_object.ma_keys",
    "dict.ma_values": "dict_object.ma_values",
    "float.ob_fval": "float_object.ob_fval",
    "int.tag": "long_object.lv_tag",
    "int.ob_digit": "long_object.ob_digit",
    "bytes.ob_size": "bytes_object.ob_size",
    "bytes.ob_sval": "bytes_object.ob_sval",
    "str.state": "unicode_object.state",
    "str.length": "unicode_object.length",
    "str.ascii_data": "unicode_object.asciiobject_size",
}


class UnknownPythonError(HarnessError):
    """An interpreter whose structs are not known here."""


@frozen
class Layout:
    """Offsets of one interpreter's fields; a missing key is a field this version has not."""

    version: tuple[int, int]
    offsets: Mapping[str, int]
    free_threaded: bool = False
    """Whether the build has no GIL: objects have a longer header, and no word of the collector's before it."""

    def __getitem__(self, key: str) -> int:
        return self.offsets[key]

    def __contains__(self, key: str) -> bool:
        return key in self.offsets

    @property
    def tagged(self) -> bool:
        """Whether frames hold references with tag bits (`_PyStackRef`, from 3.14 on)."""
        return self.version >= (3, 14)


def table_layout(version: tuple[int, int], *, without_gil: bool = False) -> Layout:
    """The measured layout of a version; `UnknownPythonError` where there is none."""
    name = f"CPython {version[0]}.{version[1]}"
    if without_gil and version not in free_threaded.OFFSETS:
        raise UnknownPythonError(
            f"{name} is a free-threaded build.",
            f"Of those CPython {SUPPORTED_FREE_THREADED} is read; the native half of the stack is shown without the"
            " Python half.",
        )
    if version not in tables.OFFSETS:
        raise UnknownPythonError(
            f"{name} is not known to pyharness.",
            f"The Python half of the stack is read for CPython {SUPPORTED}; the native half is shown without it.",
        )
    measured = free_threaded.OFFSETS if without_gil else tables.OFFSETS
    return Layout(version, measured[version], without_gil)


def debug_offsets_layout(read: Callable[[int, int], bytes], runtime: int) -> Layout | None:
    """The layout that the process itself gives at `_PyRuntime`, ``None`` where it gives none (before 3.13)."""
    head = read(runtime, 24)
    if head[:8] != COOKIE:
        return None
    hexversion, without_gil = struct.unpack("<QQ", head[8:])
    version = (hexversion >> 24 & 0xFF, hexversion >> 16 & 0xFF)
    base = table_layout(version, without_gil=bool(without_gil))
    groups = _GROUPS[version]
    count = sum(len(fields.split()) for fields in groups.values())
    said = dict(zip(_names(groups), struct.unpack(f"<{count}Q", read(runtime + 24, 8 * count)), strict=True))
    offsets = {**base.offsets, **_plausible({key: said[name] for key, name in _KEYS.items()}), **_gil(said)}
    return Layout(version, offsets, base.free_threaded)


def _names(groups: Mapping[str, str]) -> Iterator[str]:
    for group, fields in groups.items():
        for field in fields.split():
            yield f"{group}.{field}"


def _gil(said: Mapping[str, int]) -> dict[str, int]:
    """Offsets inside the GIL's own struct: the process gives them relative to the interpreter that contains one."""
    base = said["interpreter_state.gil_runtime_state"]
    return _plausible(
        {
            "gil.locked": said["interpreter_state.gil_runtime_state_locked"] - base,
            "gil.last_holder": said["interpreter_state.gil_runtime_state_holder"] - base,
        }
    )


def _plausible(offsets: dict[str, int]) -> dict[str, int]:
    """Refuse offsets that no struct has: the memory is not what its cookie promises."""
    for key, offset in offsets.items():
        if not 0 <= offset < 1 << 24:
            raise UnknownPythonError(f"The process gives an impossible offset for {key}: {offset:#x}.")
    return offsets
