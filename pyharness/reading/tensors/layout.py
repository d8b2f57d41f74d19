"""Where each torch keeps what we read of a tensor and of an autograd node, in bytes (``*_bit``: in bits).

Every number was printed by ``tests/ingdb/tensor_offsets.cpp``, compiled with the headers of torch 2.6, 2.8 to 2.15;
``tests/ingdb/test_tensor_layout.py`` measures the installed one again. A class whose whole definition is in the
debug information of the program (a torch built with it) is read from there instead.
"""

from __future__ import annotations

import re
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from pyharness.model.frozen import frozen

if TYPE_CHECKING:
    from collections.abc import Callable

    OffsetOf = Callable[[str, str], int | None]
    """``(class, "member.member")`` → bytes (bits for a bit field), ``None`` where the class is not defined."""


@frozen
class TensorLayout:
    """Offsets of one torch; the defaults are those of torch 2.13."""

    torch: str = "2.13"
    # c10::TensorImpl
    impl_size: int = 176
    storage: int = 16
    autograd_meta: int = 24
    version_counter: int = 40
    rank: int = 56
    dims: int = 64
    """Sizes, then strides; beyond ``inline_rank`` dimensions a pointer to them."""
    inline_rank: int = 5
    storage_offset: int = 144
    numel: int = 152
    dtype: int = 160
    device: int = 162
    """std::optional<c10::Device>: type, index, engaged."""
    symbolic_bit: int = 1332
    key_set: int = 168
    # Bits of the key set
    sparse_bit: int = 23
    sparse_csr_bit: int = 24
    quantized_bit: int = 20
    nested_bit: int = 25
    conjugate_bit: int = 31
    negative_bit: int = 32
    zero_bit: int = 33
    python_bit: int = 28
    # c10::StorageImpl, VersionCounter
    storage_data: int = 16
    storage_bytes: int = 48
    version_value: int = 16
    # torch::autograd::AutogradMeta, Node
    grad: int = 40
    grad_fn: int = 48
    requires_grad: int = 128
    node_sequence: int = 16
    node_object: int = 112
    """The PyObject of a node written in Python."""
    # Subclasses of TensorImpl, and their quantizers
    sparse_indices: int = 192
    sparse_values: int = 200
    csr_rows: int = 176
    csr_columns: int = 184
    csr_values: int = 192
    quantizer: int = 176
    scale: int = 24
    zero_point: int = 32
    python_tensor: int = 0
    """The at::Tensor of a Python tensor, from the end of its PyObject head."""
    # What an autograd node expands into; 0 where nobody has measured it: then that part is not shown.
    node_edges: int = 88
    edge_size: int = 16
    edge_input: int = 8
    node_anomaly: int = 120
    anomaly_dict: int = 48
    node_inputs: int = 256
    input_size: int = 96
    input_dtype: int = 2
    input_shape: int = 8
    node_size: int = 464
    saved_size: int = 80
    """A SavedVariable, which starts with its tensor."""
    saved_version: int = 32
    context_saved: int = 608
    """The saved variables of a ``torch::autograd::CppNode``."""
    python_saved: int = 136
    python_node: int = 216
    """The offset in the PyObject of a node written in Python."""
    python_cpp_node: int = 16
    """The offset in the PyObject that stands for a node written in C++."""
    undefined_dtype: int = 46


_NEWEST = TensorLayout()
# Up to 2.12 a TensorImpl also held the interpreter of its PyObject, and a Node was held by std::shared_ptr.
_OLD = replace(
    _NEWEST,
    torch="2.12",
    impl_size=184,
    rank=64,
    dims=72,
    storage_offset=152,
    numel=160,
    dtype=168,
    device=170,
    symbolic_bit=1396,
    key_set=176,
    conjugate_bit=32,
    negative_bit=33,
    zero_bit=34,
    python_bit=27,
    requires_grad=144,
    node_sequence=24,
    node_object=472,
    sparse_indices=200,
    sparse_values=208,
    csr_rows=184,
    csr_columns=192,
    csr_values=200,
    quantizer=184,
    **dict.fromkeys(
        (
            *("node_edges", "edge_size", "edge_input", "node_anomaly", "anomaly_dict", "node_inputs", "input_size"),
            *("input_dtype", "input_shape", "node_size", "saved_size", "saved_version", "context_saved"),
            *("python_saved", "python_node", "python_cpp_node"),
        ),
        0,
    ),
)
MEASURED = {
    "2.6": replace(_OLD, torch="2.6", python_tensor=8, undefined_dtype=44),
    **{version: replace(_OLD, torch=version, python_tensor=8) for version in ("2.8", "2.9")},
    **{version: replace(_OLD, torch=version) for version in ("2.10", "2.11", "2.12")},
    "2.13": _NEWEST,
    **{
        version: replace(_NEWEST, torch=version, undefined_dtype=47, python_saved=192, python_node=280)
        for version in ("2.14", "2.15")
    },
}


def _ordinal(version: str) -> tuple[int, int]:
    major, minor = version.split(".")
    return int(major), int(minor)


def for_version(version: str | None) -> TensorLayout:
    """The layout of a torch version (``"2.13.0+cpu"``); of the nearest measured one not newer where it is unknown."""
    found = re.match(r"(\d+)\.(\d+)", version or "")
    if not found:
        return _NEWEST
    wanted = int(found[1]), int(found[2])
    older = [name for name in MEASURED if _ordinal(name) <= wanted]
    return MEASURED[max(older, key=_ordinal)] if older else MEASURED["2.6"]


_IMPL, _META, _NODE = "c10::TensorImpl", "torch::autograd::AutogradMeta", "torch::autograd::Node"
_MEMBERS = {
    "storage": (_IMPL, "storage_"),
    "autograd_meta": (_IMPL, "autograd_meta_"),
    "version_counter": (_IMPL, "version_counter_"),
    "rank": (_IMPL, "sizes_and_strides_.size_"),
    "dims": (_IMPL, "sizes_and_strides_.inlineStorage_"),
    "storage_offset": (_IMPL, "storage_offset_"),
    "numel": (_IMPL, "numel_"),
    "dtype": (_IMPL, "data_type_"),
    "device": (_IMPL, "device_opt_"),
    "symbolic_bit": (_IMPL, "has_symbolic_sizes_strides_"),
    "key_set": (_IMPL, "key_set_"),
    "storage_data": ("c10::StorageImpl", "data_ptr_"),
    "storage_bytes": ("c10::StorageImpl", "size_bytes_"),
    "version_value": ("c10::VariableVersion::VersionCounter", "version_"),
    "grad": (_META, "grad_"),
    "grad_fn": (_META, "grad_fn_"),
    "requires_grad": (_META, "requires_grad_"),
    "node_sequence": (_NODE, "sequence_nr_"),
    "node_object": (_NODE, "pyobj_slot_"),
    "node_edges": (_NODE, "next_edges_"),
    "node_anomaly": (_NODE, "anomaly_metadata_"),
    "node_inputs": (_NODE, "input_metadata_"),
    "edge_input": ("torch::autograd::Edge", "input_nr"),
    "saved_version": ("torch::autograd::SavedVariable", "saved_version_"),
    "sparse_indices": ("at::SparseTensorImpl", "indices_"),
    "sparse_values": ("at::SparseTensorImpl", "values_"),
    "csr_rows": ("at::SparseCsrTensorImpl", "crow_indices_"),
    "csr_columns": ("at::SparseCsrTensorImpl", "col_indices_"),
    "csr_values": ("at::SparseCsrTensorImpl", "values_"),
    "quantizer": ("at::QTensorImpl", "quantizer_"),
    "scale": ("at::PerTensorAffineQuantizer", "scale_"),
    "zero_point": ("at::PerTensorAffineQuantizer", "zero_point_"),
}


def with_debug_information(layout: TensorLayout, offset_of: OffsetOf) -> TensorLayout:
    """``layout`` with every offset that the program's own debug information knows."""
    known: dict[str, Any] = {name: offset_of(*member) for name, member in _MEMBERS.items()}
    return replace(layout, **{name: offset for name, offset in known.items() if offset is not None})


def as_numbers(layout: TensorLayout) -> dict[str, int]:
    """Every offset by its name, as the probe prints them."""
    return {field.name: getattr(layout, field.name) for field in fields(layout) if field.name != "torch"}
