"""Measures where the fields of CPython's structs lie, from its headers, and prints them as tables.

`python_measure.py INCLUDE_DIR...` printed what `pyharness/reading/python/tables.py` holds; a test compares the two
where headers are at hand. A field that a version lacks is left out of its table.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

# key of the table: (C type, member) or a C expression
COMMON = {
    "runtime.interpreters_head": ("_PyRuntimeState", "interpreters.head"),
    "interpreter.next": ("PyInterpreterState", "next"),
    "interpreter.id": ("PyInterpreterState", "id"),
    "thread.next": ("PyThreadState", "next"),
    "thread.interp": ("PyThreadState", "interp"),
    "thread.thread_id": ("PyThreadState", "thread_id"),
    "code.filename": ("PyCodeObject", "co_filename"),
    "code.name": ("PyCodeObject", "co_name"),
    "code.firstlineno": ("PyCodeObject", "co_firstlineno"),
    "object.ob_type": ("PyObject", "ob_type"),
    "type.tp_name": ("PyTypeObject", "tp_name"),
    "type.tp_flags": ("PyTypeObject", "tp_flags"),
    "type.tp_base": ("PyTypeObject", "tp_base"),
    "type.tp_basicsize": ("PyTypeObject", "tp_basicsize"),
    "type.tp_dict": ("PyTypeObject", "tp_dict"),
    "type.tp_dictoffset": ("PyTypeObject", "tp_dictoffset"),
    "descriptor.member": ("PyMemberDescrObject", "d_member"),
    "function.code": ("PyFunctionObject", "func_code"),
    "tuple.ob_size": ("PyVarObject", "ob_size"),
    "tuple.ob_item": ("PyTupleObject", "ob_item"),
    "list.ob_size": ("PyVarObject", "ob_size"),
    "list.ob_item": ("PyListObject", "ob_item"),
    "bytes.ob_size": ("PyVarObject", "ob_size"),
    "bytes.ob_sval": ("PyBytesObject", "ob_sval"),
    "str.length": ("PyASCIIObject", "length"),
    "str.state": ("PyASCIIObject", "state"),
    "str.ascii_data": "sizeof(PyASCIIObject)",
    "str.compact_data": "sizeof(PyCompactUnicodeObject)",
    "str.data_pointer": ("PyUnicodeObject", "data"),
    "float.ob_fval": ("PyFloatObject", "ob_fval"),
    "dict.ma_used": ("PyDictObject", "ma_used"),
    "dict.ma_keys": ("PyDictObject", "ma_keys"),
    "dict.ma_values": ("PyDictObject", "ma_values"),
    "set.used": ("PySetObject", "used"),
    "set.mask": ("PySetObject", "mask"),
    "set.table": ("PySetObject", "table"),
    "cell.ob_ref": ("PyCellObject", "ob_ref"),
}
SINCE = {
    (3, 10): {"code.linetable": ("PyCodeObject", "co_linetable")},
    (3, 11): {
        "interpreter.threads_head": ("PyInterpreterState", "threads.head"),
        "thread.native_thread_id": ("PyThreadState", "native_thread_id"),
        "frame.previous": ("struct _PyInterpreterFrame", "previous"),
        "frame.localsplus": ("struct _PyInterpreterFrame", "localsplus"),
        "frame.owner": ("struct _PyInterpreterFrame", "owner"),
        "frame.globals": ("struct _PyInterpreterFrame", "f_globals"),
        "frame.locals": ("struct _PyInterpreterFrame", "f_locals"),
        "type.cached_keys": ("PyHeapTypeObject", "ht_cached_keys"),
        "code.qualname": ("PyCodeObject", "co_qualname"),
        "code.code": ("PyCodeObject", "co_code_adaptive"),
        "code.localsplusnames": ("PyCodeObject", "co_localsplusnames"),
        "code.localspluskinds": ("PyCodeObject", "co_localspluskinds"),
        "code.first_traceable": ("PyCodeObject", "_co_firsttraceable"),
        "keys.log2_index_bytes": ("struct _dictkeysobject", "dk_log2_index_bytes"),
        "keys.kind": ("struct _dictkeysobject", "dk_kind"),
        "keys.nentries": ("struct _dictkeysobject", "dk_nentries"),
        "keys.indices": ("struct _dictkeysobject", "dk_indices"),
        "dictvalues.values": ("struct _dictvalues", "values"),
    },
    (3, 12): {
        "interpreter.modules": ("PyInterpreterState", "imports.modules"),
        "interpreter.ceval_gil": ("PyInterpreterState", "ceval.gil"),
        "gil.last_holder": ("struct _gil_runtime_state", "last_holder"),
        "gil.locked": ("struct _gil_runtime_state", "locked"),
        "int.tag": ("PyLongObject", "long_value.lv_tag"),
        "int.ob_digit": ("PyLongObject", "long_value.ob_digit"),
    },
    (3, 13): {
        "thread.current_frame": ("PyThreadState", "current_frame"),
        "frame.code": ("struct _PyInterpreterFrame", "f_executable"),
        "frame.instruction": ("struct _PyInterpreterFrame", "instr_ptr"),
    },
}
UNTIL = {  # the last version that has it
    (3, 9): {
        "code.linetable": ("PyCodeObject", "co_lnotab"),
        "frame.trace": ("struct _frame", "f_trace"),
    },
    (3, 10): {
        "interpreter.threads_head": ("PyInterpreterState", "tstate_head"),
        "thread.frame": ("PyThreadState", "frame"),
        "frame.previous": ("struct _frame", "f_back"),
        "frame.code": ("struct _frame", "f_code"),
        "frame.globals": ("struct _frame", "f_globals"),
        "frame.locals": ("struct _frame", "f_locals"),
        "frame.instruction": ("struct _frame", "f_lasti"),
        "frame.line": ("struct _frame", "f_lineno"),
        "frame.localsplus": ("struct _frame", "f_localsplus"),
        "code.varnames": ("PyCodeObject", "co_varnames"),
        "code.cellvars": ("PyCodeObject", "co_cellvars"),
        "code.freevars": ("PyCodeObject", "co_freevars"),
        # Objects/dict-common.h is not installed: dk_refcnt, dk_size, dk_lookup, dk_usable, dk_nentries, dk_indices
        "keys.size": "8",
        "keys.nentries": "32",
        "keys.indices": "40",
        "dictvalues.values": "0",
    },
    (3, 11): {
        "interpreter.modules": ("PyInterpreterState", "modules"),
        "runtime.gil_last_holder": ("_PyRuntimeState", "ceval.gil.last_holder"),
        "runtime.gil_locked": ("_PyRuntimeState", "ceval.gil.locked"),
        "int.ob_size": ("PyVarObject", "ob_size"),
        "int.ob_digit": ("PyLongObject", "ob_digit"),
    },
}
ONLY = {
    (3, 10): {
        "cframe.previous": ("CFrame", "previous"),
        "thread.root_cframe": ("PyThreadState", "root_cframe"),
        "thread.cframe": ("PyThreadState", "cframe"),
    },
    (3, 11): {"frame.is_entry": ("struct _PyInterpreterFrame", "is_entry")},
}
BETWEEN_11_12 = {
    "thread.cframe": ("PyThreadState", "cframe"),
    "cframe.previous": ("_PyCFrame", "previous"),
    "cframe.current_frame": ("_PyCFrame", "current_frame"),
    "frame.code": ("struct _PyInterpreterFrame", "f_code"),
    "frame.instruction": ("struct _PyInterpreterFrame", "prev_instr"),
}
HEADERS = ("internal/pycore_runtime.h", "internal/pycore_interp.h", "internal/pycore_frame.h", "internal/pycore_dict.h",
           "internal/pycore_interpframe.h", "internal/pycore_debug_offsets.h", "frameobject.h")  # fmt: skip


def fields(version):
    """Every field of a version, with the C that measures it."""
    found = dict(COMMON)
    for since, extra in SINCE.items():
        found.update(extra if version >= since else {})
    for until, extra in UNTIL.items():
        found.update(extra if version <= until else {})
    found.update(ONLY.get(version, {}))
    found.update(BETWEEN_11_12 if version in {(3, 11), (3, 12)} else {})
    return found


def version_of(include):
    text = (include / "patchlevel.h").read_text()
    return tuple(int(re.search(rf"define PY_{part}_VERSION\s+(\d+)", text)[1]) for part in ("MAJOR", "MINOR", "MICRO"))


def program(include, version):
    """C source that prints `key value` for every field."""
    lines = ["#define Py_BUILD_CORE 1", "#include <Python.h>", "#include <stddef.h>", "#include <stdio.h>"]
    lines += [f'#include "{name}"' for name in HEADERS if (include / name).exists()]
    lines.append("int main(void) {")
    for key, what in fields(version).items():
        value = what if isinstance(what, str) else f"offsetof({what[0]}, {what[1]})"
        lines.append(f'  printf("{key} %zu\\n", (size_t)({value}));')
    return "\n".join([*lines, "  return 0; }", ""])


def measure(include):
    """Version and table of the CPython whose headers lie in `include`."""
    version = version_of(include)
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "measure.c")
        source.write_text(program(include, version[:2]))
        # Debian keeps pyconfig.h in a folder named by the platform, beside the version's own
        paths = [f"-I{include}", f"-I{include}/internal", f"-I{include.parent}", f"-I{include}/internal/mimalloc"]
        subprocess.run(["cc", "-w", *paths, "-o", f"{folder}/measure", source], check=True)
        text = subprocess.run([f"{folder}/measure"], check=True, capture_output=True, text=True).stdout
    return version, {key: int(value) for key, value in (line.split() for line in text.splitlines())}


def main():
    for argument in sys.argv[1:]:
        version, table = measure(Path(argument))
        print(f"    # measured on {'.'.join(map(str, version))}")
        print(f"    ({version[0]}, {version[1]}): {{")
        print("".join(f'        "{key}": {value},\n' for key, value in sorted(table.items())), end="    },\n")


if __name__ == "__main__":
    main()
