"""How torch's handles are shown: options, generators, operators, sets of dispatch keys, storages."""

from __future__ import annotations

import struct

import gdb

from pyharness.ingdb import torch_process
from pyharness.ingdb.printers.of_torch.torch_types import device_text
from pyharness.ingdb.printers.registry import enumerator, shows, text_of
from pyharness.reading.process.memory import Memory

_OPTIONS = {"dtype": "dtype_", "device": "device_", "layout": "layout_", "requires_grad": "requires_grad_"}
_GENERATOR_DEVICE = 56
"""Behind its head and a mutex: no program's debug information has the class GeneratorImpl."""
_FLAGS = ("requires_grad", "pinned_memory")
_PER_BACKEND = {
    "Dense": "",
    "Quantized": "Quantized",
    "Sparse": "Sparse",
    "SparseCsr": "SparseCsr",
    "NestedTensor": "NestedTensor",
    "AutogradFunctionality": "Autograd",
}
"""The functionalities that each backend has, and how their keys are called before the backend's name."""


@shows(r"c10::TensorOptions")
def _options(value: gdb.Value) -> str:
    said = []
    for name, member in {**_OPTIONS, "pinned_memory": "pinned_memory_", "memory_format": "memory_format_"}.items():
        if value[f"has_{name}_"]:
            held = value[member]
            said.append(f"{name}={bool(held) if name in _FLAGS else text_of(held)}")
    return f"TensorOptions({', '.join(said)})"


@shows(r"at::Generator")
def _generator(value: gdb.Value) -> str:
    return generator_at(int(value["impl_"]["target_"]))


def generator_at(impl: int) -> str:
    """What the GeneratorImpl at an address is."""
    if not impl:
        return "undefined"
    kind, index = struct.unpack("bb", torch_process.read(impl + _GENERATOR_DEVICE, 2))
    return f"Generator({device_text(kind, index)}) at {impl:#x}"


@shows(r"c10::(?:OperatorHandle|TypedOperatorHandle<.*>)")
def _operator(value: gdb.Value) -> str:
    return text_of(value["operatorDef_"]["op"]["name_"])


@shows(r"c10::OperatorName")
def _operator_name(value: gdb.Value) -> str:
    name, overload = (text_of(value[each]).strip('"') for each in ("name", "overload_name"))
    return f"{name}.{overload}" if overload else name


@shows(r"c10::DispatchKeySet")
def _keys(value: gdb.Value) -> str:
    bits = int(value["repr_"])
    backends, functions = _names("c10::BackendComponent"), _names("c10::DispatchKey")
    count = backends.index("EndOfBackendKeys") if "EndOfBackendKeys" in backends else len(backends) - 1
    here = [backends[number + 1].removesuffix("Bit") for number in range(count) if bits >> number & 1]
    keys = []
    for number in range(64 - count):
        if bits >> (count + number) & 1:
            name = functions[number + 1] if number + 1 < len(functions) else f"key {number + 1}"
            each = [f"{_PER_BACKEND[name]}{backend}" for backend in here] if name in _PER_BACKEND else []
            keys += each or [name]
    return f"DispatchKeySet({', '.join(keys)})"


def _names(enumeration: str) -> list[str]:
    """The names of an enumeration, each at the place of its value; the first of those that have the same."""
    fields = gdb.lookup_type(enumeration).fields()
    known: dict[int, str] = {}
    for field in fields:
        known.setdefault(field.enumval, (field.name or "").rpartition("::")[2])
    return [known.get(number, f"{number}") for number in range(max(known) + 1)]


@shows(r"c10::Storage")
def _storage(value: gdb.Value) -> str:
    return storage_at(int(value["storage_impl_"]["target_"]))


def storage_at(impl: int) -> str:
    """What the StorageImpl at an address has."""
    if not impl:
        return "undefined"
    layout, memory = torch_process.tensor_layout(), Memory(torch_process.read)
    size, data = memory.signed(impl + layout.storage_bytes), memory.pointer(impl + layout.storage_data)
    return f"{size} bytes at {data:#x}"


@shows(r"torch::autograd::SavedVariable")
def _saved(value: gdb.Value) -> str:
    held, original = text_of(value["data_"]), bool(value["saved_original_"])
    if not int(value["data_"]["impl_"]["target_"]):
        return "released, or never set"
    version = int(value["saved_version_"])
    return f"{held} (saved at version {version}{', the original' if original else ''})"


@shows(r"c10::(?:Layout|MemoryFormat|DispatchKey|BackendComponent|DeviceType)")
def _enumerated(value: gdb.Value) -> str:
    return enumerator(value)
