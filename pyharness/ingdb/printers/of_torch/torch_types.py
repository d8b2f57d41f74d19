"""How torch's types are shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

import gdb

from pyharness.ingdb import torch_process
from pyharness.ingdb.printers.registry import enumerator, items, shows, shows_tensors, text_of
from pyharness.ingdb.tensors.address import plain_type, type_name
from pyharness.ingdb.tensors.format import one_line
from pyharness.ingdb.tensors.held import LostError, tensor_held
from pyharness.ingdb.tensors.reading import DEVICES
from pyharness.model.tensors.dtypes import DTYPES
from pyharness.model.tensors.text import number

if TYPE_CHECKING:
    from collections.abc import Callable


@shows_tensors
def _tensor(value: gdb.Value) -> str:
    if value.is_optimized_out:
        return "<optimized out>"
    try:
        info = tensor_held(value)
    except LostError:
        return "<optimized out>"
    text = one_line(torch_process.read, info)
    kind = plain_type(value.type)
    return f"({kind.unqualified()}) {info.address:#x} {text}" if kind.code == gdb.TYPE_CODE_PTR else text


@shows(r"(?:c10|at)::(?:HeaderOnly)?ArrayRef<.*>")
def _array_ref(value: gdb.Value) -> str:
    return items(value["Data"], int(value["Length"]))


@shows(r"(?:c10|llvm)::SmallVector(?:Impl)?<.*>")
def _small_vector(value: gdb.Value) -> str:
    element = plain_type(value.type).template_argument(0)
    return items(value["BeginX"].cast(element.pointer()), int(value["Size"]))


@shows(r"std::vector<(?:at|torch::stable)::Tensor, .*>|std::vector<c10::(?:IValue|SymInt|Scalar|Device), .*>")
def _vector(value: gdb.Value) -> str:
    first, last = value["_M_impl"]["_M_start"], value["_M_impl"]["_M_finish"]
    return items(first, int(last) - int(first) and (int(last) - int(first)) // first.dereference().type.sizeof)


@shows(r"std::optional<(?:at|c10|torch::stable)::.*>|std::optional<(?:bool|int|long|float|double)>")
def _optional(value: gdb.Value) -> str:
    held = engaged(value)
    return "nullopt" if held is None else text_of(held)


@shows(r"c10::OptionalArrayRef<.*>")
def _optional_array_ref(value: gdb.Value) -> str:
    return text_of(value["wrapped_opt_array_ref"])


def engaged(value: gdb.Value) -> gdb.Value | None:
    """What a ``std::optional`` of libstdc++ holds, ``None`` where it is empty or no optional."""
    if not type_name(value.type).startswith("std::optional<"):
        return None
    payload = value["_M_payload"]
    if not payload["_M_engaged"]:
        return None
    storage = payload["_M_payload"]
    return storage["_M_value"]


@shows(r"c10::Device|torch::stable::Device")
def _device(value: gdb.Value) -> str:
    return device_text(int(value["type_"].cast(_byte())), int(value["index_"]))


def device_text(kind: int, index: int) -> str:
    """``cuda:1``; a negative index is none."""
    name = DEVICES[kind] if 0 <= kind < len(DEVICES) else f"DeviceType({kind})"
    return name if index < 0 else f"{name}:{index}"


@shows(r"c10::ScalarType")
def _scalar_type(value: gdb.Value) -> str:
    index = int(value.cast(_byte()))
    known = min(len(DTYPES), torch_process.tensor_layout().undefined_dtype)
    return DTYPES[index].name if index < known else "undefined" if index == known else f"ScalarType({index})"


@shows(r"caffe2::TypeMeta")
def _type_meta(value: gdb.Value) -> str:
    index = int(value["index_"])
    return DTYPES[index].name if index < len(DTYPES) else f"TypeMeta({index})"


def _byte() -> gdb.Type:
    return gdb.lookup_type("unsigned char")


_SYMBOLIC_MASK, _SYMBOLIC = 0b111 << 61, 0b101 << 61


@shows(r"c10::SymInt")
def _sym_int(value: gdb.Value) -> str:
    data = int(value["data_"])
    # c10/core/SymInt.h: the three highest bits 101 say that the rest is the address of a SymNodeImpl.
    return "<symbolic>" if data & _SYMBOLIC_MASK == _SYMBOLIC else str(data)


@shows(r"c10::Sym(?:Float|Bool)")
def _sym_number(value: gdb.Value) -> str:
    return "<symbolic>" if int(value["ptr_"]["target_"]) else text_of(value["data_"])


@shows(r"c10::complex<.*>")
def _complex(value: gdb.Value) -> str:
    return number(complex(float(value["real_"]), float(value["imag_"])))


@shows(r"c10::Scalar")
def _scalar(value: gdb.Value) -> str:
    tag = enumerator(value["tag"])
    content = value["v"]
    shown: dict[str, Callable[[], str]] = {
        "HAS_d": lambda: repr(float(content["d"])),
        "HAS_z": lambda: text_of(content["z"]),
        "HAS_b": lambda: str(bool(int(content["i"]))),
        "HAS_i": lambda: str(int(content["i"])),
        "HAS_u": lambda: str(int(content["u"])),
    }
    return shown[tag]() if tag in shown else f"<symbolic {tag}>"
