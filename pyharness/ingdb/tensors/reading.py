"""Reads one tensor from memory alone: everything but its elements."""

from __future__ import annotations

import struct
from math import prod
from typing import TYPE_CHECKING

from pyharness.model.tensors.dtypes import BY_NAME, DTYPES
from pyharness.model.tensors.obstacles import Facts, beyond_storage, obstacle
from pyharness.model.tensors.tensor import SYMBOLIC, Quantization, TensorInfo
from pyharness.reading.autograd.graph import read_node
from pyharness.reading.functions.cxx_class import class_name, classes
from pyharness.reading.process.memory import Memory, UnreadableError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pyharness.model.frames import AutogradNode
    from pyharness.reading.tensors.layout import TensorLayout

MAX_RANK = 64
"""at::kDimVectorStaticSize is 5, TensorIterator takes 64: more is no tensor."""
MAX_NUMEL = 1 << 60
# torch/headeronly/core/DeviceType.h
DEVICES = (
    *("cpu", "cuda", "mkldnn", "opengl", "opencl", "ideep", "hip", "fpga", "maia", "xla", "vulkan", "metal"),
    *("xpu", "mps", "meta", "hpu", "ve", "lazy", "ipu", "mtia", "privateuseone"),
)
_CPU = 0
_META = DEVICES.index("meta")
_PLAIN = "c10::TensorImpl"


class _CorruptError(Exception):
    """What was read cannot be a tensor."""


def read_tensor(read: Callable[[int, int], bytes], address: int, layout: TensorLayout) -> TensorInfo:
    """The tensor whose TensorImpl is at ``address``; what is none has the state ``null`` or ``corrupt``, never raises.

    ``read(address, size)`` gives the bytes or raises ``OSError``.
    """
    return tensor_at(Memory(read), address, layout)


def tensor_at(memory: Memory, address: int, layout: TensorLayout) -> TensorInfo:
    """The tensor at an address, from memory that caches what it reads."""
    if not address:
        return TensorInfo(0, state="null")
    try:
        return _Impl(memory, address, layout).info()
    except _CorruptError as error:
        return TensorInfo(address, state="corrupt", problem=str(error))
    except UnreadableError:
        return TensorInfo(address, state="corrupt", problem="its TensorImpl cannot be read")


class _Impl:
    """A ``c10::TensorImpl``."""

    def __init__(self, memory: Memory, address: int, layout: TensorLayout) -> None:
        self.memory = memory
        self.address = address
        self.at = layout
        self.raw = memory.read(address, layout.impl_size)
        self.keys = self.unsigned(layout.key_set)
        self.kind = class_name(memory, address)

    def unsigned(self, offset: int, size: int = 8) -> int:
        return int.from_bytes(self.raw[offset : offset + size], "little")

    def has(self, bit: int) -> bool:
        """Whether the key set has a functionality."""
        return bool(self.keys >> bit & 1)

    def info(self) -> TensorInfo:
        self._check_class()
        dtype = self._dtype()
        if dtype == "undefined" and (self.kind == "c10::UndefinedTensorImpl" or not self.keys):
            return TensorInfo(self.address, state="undefined", kind=self.kind)
        numel = struct.unpack_from("<q", self.raw, self.at.numel)[0]
        offset = struct.unpack_from("<q", self.raw, self.at.storage_offset)[0]
        sizes, strides = self._dimensions(numel)
        storage, storage_bytes = self._storage()
        layout = self._tensor_layout()
        requires_grad, grad_fn, has_grad = self._autograd()
        itemsize = BY_NAME[dtype].size if dtype in BY_NAME else 0
        info = TensorInfo(
            address=self.address,
            kind=self.kind,
            dtype=dtype,
            sizes=sizes if layout != "nested" and not self._is_symbolic() else (),
            strides=strides if layout == "strided" and not self._is_symbolic() else (),
            offset=offset,
            numel=numel,
            device=self._device(),
            layout=layout,
            requires_grad=requires_grad,
            grad_fn=grad_fn,
            has_grad=has_grad,
            version=self._version(),
            data=storage + offset * itemsize if storage else 0,
            storage_bytes=storage_bytes,
            conjugated=self.has(self.at.conjugate_bit),
            negated=self.has(self.at.negative_bit),
            quantization=self._quantization(),
            unreadable=self._obstacle(dtype, layout, storage, numel),
            notes=tuple(self._notes()),
            parts=tuple(self._parts(layout)),
        )
        problem = None if info.unreadable else beyond_storage(info, itemsize)
        if problem:
            raise _CorruptError(problem)
        return info

    def _check_class(self) -> None:
        if self.address % 8:
            raise _CorruptError("a TensorImpl is never at an odd address")
        found = classes(self.memory, self.address)
        # Subclasses that hide their bases (multiple inheritance, names that a core lacks) get the benefit of the doubt.
        if self.kind and _PLAIN not in found and not self.kind.endswith(("TensorImpl", "TensorWrapper")):
            raise _CorruptError(f"it is a {self.kind}")

    def _dtype(self) -> str:
        index = self.unsigned(self.at.dtype, 2)
        if index == self.at.undefined_dtype:
            return "undefined"
        return DTYPES[index].name if index < min(len(DTYPES), self.at.undefined_dtype) else f"ScalarType({index})"

    def _dimensions(self, numel: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        rank = self.unsigned(self.at.rank)
        if rank > MAX_RANK:
            raise _CorruptError(f"it would have {rank} dimensions")
        if rank <= self.at.inline_rank:
            half = 8 * self.at.inline_rank
            raw = self.raw[self.at.dims : self.at.dims + 2 * half]
            sizes, strides = raw[: 8 * rank], raw[half : half + 8 * rank]
        else:
            raw = self.memory.read(self.unsigned(self.at.dims), 16 * rank)
            sizes, strides = raw[: 8 * rank], raw[8 * rank :]
        return self._checked(struct.unpack(f"<{rank}q", sizes), struct.unpack(f"<{rank}q", strides), numel)

    def _checked(
        self, sizes: tuple[int, ...], strides: tuple[int, ...], numel: int
    ) -> tuple[tuple[int, ...], tuple[int, ...]]:
        if self._is_symbolic() or self.has(self.at.nested_bit):
            return sizes, strides
        if any(size < 0 for size in sizes):
            raise _CorruptError(f"it would have the sizes {list(sizes)}")
        if prod(sizes) != numel or numel > MAX_NUMEL:
            raise _CorruptError(f"it has the sizes {list(sizes)} but {numel} elements")
        return sizes, strides

    def _is_symbolic(self) -> bool:
        return bool(self.raw[self.at.symbolic_bit // 8] >> self.at.symbolic_bit % 8 & 1)

    def _device(self) -> str:
        kind, index, engaged = self.raw[self.at.device : self.at.device + 3]
        if not engaged:
            return "none"
        name = DEVICES[kind] if kind < len(DEVICES) else f"DeviceType({kind})"
        return name if index >= 0x80 or kind in {_CPU, _META} else f"{name}:{index}"

    def _version(self) -> int | None:
        counter = self.unsigned(self.at.version_counter)
        return self.memory.unsigned(counter + self.at.version_value, 4) if counter else None

    def _storage(self) -> tuple[int, int]:
        """Address and size in bytes of the storage, 0 where there is none."""
        storage = self.unsigned(self.at.storage)
        if not storage:
            return 0, 0
        data = self.memory.pointer(storage + self.at.storage_data)
        size = self.memory.signed(storage + self.at.storage_bytes)
        return data, max(size, 0)

    def _autograd(self) -> tuple[bool, AutogradNode | None, bool]:
        meta = self.unsigned(self.at.autograd_meta)
        if not meta:
            return False, None, False
        node = self.memory.pointer(meta + self.at.grad_fn)
        leaf_requires = bool(self.memory.unsigned(meta + self.at.requires_grad, 1) & 1)
        gradient = self.memory.pointer(meta + self.at.grad)
        has_grad = bool(gradient) and class_name(self.memory, gradient) != "c10::UndefinedTensorImpl"
        return leaf_requires or bool(node), read_node(self.memory, node, self.at) if node else None, has_grad

    def _tensor_layout(self) -> str:
        if self.has(self.at.nested_bit):
            return "nested"
        if self.has(self.at.sparse_csr_bit):
            return "sparse_compressed"
        return "sparse_coo" if self.has(self.at.sparse_bit) else "strided"

    def _obstacle(self, dtype: str, layout: str, storage: int, numel: int) -> str | None:
        return obstacle(Facts(dtype, layout, self._device(), self._is_symbolic(), storage, numel, self.kind))

    def _notes(self) -> Iterator[str]:
        if self.kind and self.kind != _PLAIN:
            yield self.kind
        if self._is_symbolic():
            yield SYMBOLIC
        if self.has(self.at.zero_bit):
            yield "ZeroTensor: every element is zero"
        if self.has(self.at.python_bit):
            yield "a Python subclass with __torch_dispatch__"

    def _parts(self, layout: str) -> Iterator[tuple[str, TensorInfo]]:
        if layout == "sparse_coo" and self.kind == "at::SparseTensorImpl":
            members = {"indices": self.at.sparse_indices, "values": self.at.sparse_values}
        elif layout == "sparse_compressed" and self.kind == "at::SparseCsrTensorImpl":
            members = {
                "compressed_indices": self.at.csr_rows,
                "plain_indices": self.at.csr_columns,
                "values": self.at.csr_values,
            }
        else:
            return
        for name, offset in members.items():
            part = self.memory.pointer(self.address + offset)
            if part != self.address:
                yield name, tensor_at(self.memory, part, self.at)

    def _quantization(self) -> Quantization | None:
        if not self.has(self.at.quantized_bit) or self.kind != "at::QTensorImpl":
            return None
        quantizer = self.memory.pointer(self.address + self.at.quantizer)
        if not quantizer or class_name(self.memory, quantizer) != "at::PerTensorAffineQuantizer":
            return None
        scale = struct.unpack("<d", self.memory.read(quantizer + self.at.scale, 8))[0]
        return Quantization(scale, self.memory.signed(quantizer + self.at.zero_point))
