"""Reads a torch.Tensor in its own process without running an op where that can be avoided, and never a user's hook."""

from __future__ import annotations

import math
import os
import sys
from contextlib import ExitStack, contextmanager
from math import prod
from typing import TYPE_CHECKING, Any

from pyharness.host.jit_trace import unrecorded
from pyharness.model.frames import AutogradNode
from pyharness.model.tensors.dtypes import BY_NAME
from pyharness.model.tensors.elements import UNREADABLE, leading, values
from pyharness.model.tensors.obstacles import IN_MEMORY, Facts, beyond_storage, obstacle
from pyharness.model.tensors.statistics import DEFAULT_LIMIT, Statistics
from pyharness.model.tensors.tensor import SYMBOLIC, Quantization, TensorInfo

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyharness.model.tensors.elements import Element

_GUARDS = (
    *("_DisableTorchDispatch", "DisableTorchFunction", "_DisableFuncTorch", "_DisableAutocast"),
    "_DisablePythonDispatcher",
)
_PART = 1 << 16
_PAGE = 4096
_GENERATED = "torch::autograd::generated::"
_COMPRESSED = frozenset({"sparse_csr", "sparse_csc", "sparse_bsr", "sparse_bsc"})


@contextmanager
def undisturbed() -> Iterator[Any]:
    """torch, with no mode, transform or subclass of the stopped thread in the way, and no history recorded."""
    torch = sys.modules["torch"]
    with ExitStack() as stack:
        for name in _GUARDS:
            guard = getattr(torch._C, name, None)
            if guard is not None:
                stack.enter_context(guard())
        stack.enter_context(torch.no_grad())
        stack.enter_context(unrecorded())
        yield torch


def info_of(tensor: Any) -> TensorInfo:
    """What a tensor is, without its elements; what cannot be had is a corrupt tensor with the reason."""
    try:
        with undisturbed() as torch:
            return TensorInfo(id(tensor), state="uninitialized") if _is_lazy(tensor) else _info_of_any(torch, tensor)
    except Exception as error:  # noqa: BLE001  (a subclass may raise anything)
        return TensorInfo(id(tensor), state="corrupt", problem=f"{type(error).__name__}: {error}".split("\n", 1)[0])


class _Plain:
    """A tensor of a subclass, by what ``torch.Tensor`` has of it: properties of the subclass's own may raise."""

    def __init__(self, torch: Any, tensor: Any) -> None:
        self._torch = torch
        self._tensor = tensor

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._torch.Tensor, name)
        return found.__get__(self._tensor) if hasattr(found, "__get__") else found


def _info_of_any(torch: Any, tensor: Any) -> TensorInfo:
    try:
        return _info(torch, tensor)
    except Exception:
        if type(tensor) is torch.Tensor:
            raise
        return _info(torch, _Plain(torch, tensor))


def _info(torch: Any, tensor: Any) -> TensorInfo:
    dtype = str(tensor.dtype).removeprefix("torch.")
    layout = _layout(torch, tensor)
    nested = layout == "nested"
    sizes = () if nested else tuple(tensor.shape)
    symbolic = any(not isinstance(size, int) for size in sizes)
    strided = layout == "strided" and not symbolic
    itemsize = BY_NAME[dtype].size if dtype in BY_NAME else 0
    storage, storage_bytes = _storage(tensor) if strided or nested else (0, 0)
    numel = 0 if symbolic else int(tensor.numel())
    kind = _kind(torch, tensor, layout)
    offset = int(tensor.storage_offset()) if strided else 0
    facts = Facts(dtype, layout, str(tensor.device), symbolic, storage, numel, kind)
    info = TensorInfo(
        address=tensor._cdata,
        kind=kind,
        dtype=dtype,
        sizes=() if symbolic else sizes,
        strides=tuple(tensor.stride()) if strided else (),
        offset=offset,
        numel=numel,
        device=str(tensor.device),
        layout=layout,
        requires_grad=bool(tensor.requires_grad),
        grad_fn=node_of(tensor.grad_fn),
        has_grad=gradient_of(tensor) is not None,
        version=None if tensor.is_inference() else tensor._version,
        data=storage + offset * itemsize if storage else 0,
        storage_bytes=storage_bytes,
        conjugated=bool(tensor.is_conj()),
        negated=bool(tensor.is_neg()),
        quantization=_quantization(torch, tensor),
        unreadable=obstacle(facts, reachable=True),
        notes=tuple(_notes(torch, tensor, kind, symbolic=symbolic)),
    )
    problem = None if info.unreadable else beyond_storage(info, itemsize)
    return TensorInfo(info.address, state="corrupt", problem=problem) if problem else info


def _is_lazy(tensor: Any) -> bool:
    """Whether it is a parameter or buffer of a lazy module that was not called yet."""
    mixin = getattr(sys.modules.get("torch.nn.parameter"), "UninitializedTensorMixin", None)
    return mixin is not None and isinstance(tensor, mixin)


def _layout(torch: Any, tensor: Any) -> str:
    if tensor.is_nested:
        return "nested"
    layout = str(tensor.layout).removeprefix("torch.")
    if layout in _COMPRESSED:
        return "sparse_compressed"
    return "strided" if tensor.layout is torch.strided or layout == "_mkldnn" else layout


def _storage(tensor: Any) -> tuple[int, int]:
    try:
        storage = tensor.untyped_storage()
        in_memory = storage.device.type != "meta"  # a FakeTensor's is meta, too, and warns who asks for its address
        return int(storage.data_ptr()) if in_memory else 0, int(storage.nbytes())
    except (RuntimeError, NotImplementedError):  # wrappers have none
        return 0, 0


def _kind(torch: Any, tensor: Any, layout: str) -> str:
    """The C++ class as far as Python tells."""
    if tensor.is_quantized:
        return "at::QTensorImpl"
    named = {
        "sparse_coo": "at::SparseTensorImpl",
        "sparse_compressed": "at::SparseCsrTensorImpl",
        "nested": "at::native::NestedTensorImpl",
    }
    functorch = getattr(torch._C, "_functorch", None)
    if functorch is not None and not isinstance(tensor, _Plain) and functorch.is_functorch_wrapped_tensor(tensor):
        return "at::functorch wrapper"
    return named.get(layout, "c10::TensorImpl")


def _notes(torch: Any, tensor: Any, kind: str, *, symbolic: bool) -> Iterator[str]:
    if kind != "c10::TensorImpl":
        yield kind
    if symbolic:
        yield SYMBOLIC
    if getattr(tensor, "_is_zerotensor", bool)():
        yield "ZeroTensor: every element is zero"
    dispatch = getattr(type(tensor), "__torch_dispatch__", None)
    if dispatch is not None and dispatch is not torch._C._disabled_torch_dispatch_impl:
        base = getattr(torch.Tensor, "__torch_dispatch__", None)
        if getattr(dispatch, "__func__", dispatch) is not getattr(base, "__func__", base):
            yield "a Python subclass with __torch_dispatch__"


def _quantization(torch: Any, tensor: Any) -> Quantization | None:
    if not tensor.is_quantized or tensor.qscheme() is not torch.per_tensor_affine:
        return None
    return Quantization(float(tensor.q_scale()), int(tensor.q_zero_point()))


def node_of(node: Any) -> AutogradNode | None:
    """An autograd node as both halves name it."""
    if node is None:
        return None
    number = node._sequence_nr() if hasattr(node, "_sequence_nr") else None
    return AutogradNode(
        node.name().removeprefix(_GENERATED), None if number is None or number >= 1 << 62 else number, 0
    )


def gradient_of(tensor: Any) -> Any:
    """The grad of a tensor that can have one: asking others for it prints a warning."""
    return tensor.grad if tensor.is_leaf or tensor.retains_grad else None


def element_reader(tensor: Any, info: TensorInfo) -> Element:
    """Reads single elements of a tensor whose ``unreadable`` is ``None``."""
    width = BY_NAME[info.dtype].size

    def from_memory(offset: int) -> bool | float | complex | str:
        # Not through a pointer: memory that a tensor only borrows may be gone, and that must not kill the program.
        try:
            with open("/proc/self/mem", "rb", buffering=0) as memory:  # noqa: PTH123  (a device of the kernel)
                memory.seek(info.data + offset * width)
                return values(info, memory.read(width))[0]
        except (OSError, OverflowError, IndexError):
            return UNREADABLE

    def from_device(offset: int) -> bool | float | complex | str:
        with undisturbed():
            element = tensor.detach().as_strided((), (), info.offset + offset).item()
        return element if isinstance(element, (bool, int, float, complex)) else UNREADABLE

    return from_memory if info.device.partition(":")[0] in IN_MEMORY else from_device


def statistics(tensor: Any, info: TensorInfo, limit: int = DEFAULT_LIMIT) -> Statistics:
    """Statistics of the first ``limit`` elements or so: by torch's own ops, or by ours where torch has none."""
    sizes = leading(info.sizes, limit)
    in_memory = info.device.partition(":")[0] in IN_MEMORY
    decodable = info.is_contiguous and in_memory
    if in_memory and info.layout == "strided" and info.data:
        _check_memory(info, sizes)
    if info.dtype == "uint64" and decodable:  # torch could only convert it, and so round it
        return _by_decoding(info, prod(sizes))
    try:
        with undisturbed() as torch:
            return _by_torch(torch, tensor.detach(), info, sizes)
    except (RuntimeError, NotImplementedError):
        if not decodable:
            raise
    return _by_decoding(info, prod(sizes))


def _check_memory(info: TensorInfo, sizes: tuple[int, ...]) -> None:
    """``OSError`` where a page of the elements is not there: torch's ops would end the program by a signal.

    A file that a tensor maps may have become shorter, and memory that it borrows may be gone.
    """
    if not prod(sizes):
        return
    pairs = zip(sizes, info.strides)  # noqa: B905  (CPython 3.9 has no strict)
    last = sum((size - 1) * stride for size, stride in pairs)
    end = info.data + (last + 1) * BY_NAME[info.dtype].size
    memory = os.open("/proc/self/mem", os.O_RDONLY)
    try:
        for address in (*range(info.data, end, _PAGE), end - 1):
            os.pread(memory, 1, address)
    except (OSError, OverflowError) as error:
        raise OSError(f"its memory is not there: {end - info.data} bytes") from error
    finally:
        os.close(memory)


def _by_torch(torch: Any, part: Any, info: TensorInfo, sizes: tuple[int, ...]) -> Statistics:
    for dimension, size in enumerate(sizes):
        part = part.narrow(dimension, 0, size)
    part = (part.dequantize() if info.quantization else part).cpu().resolve_conj().resolve_neg()
    found = Statistics(counted=part.numel(), total=info.numel)
    if part.is_complex():
        _add_complex(torch, part.to(torch.complex128).flatten(), found)
    else:
        _add_real(torch, part.to(torch.float64).flatten(), found)
        if BY_NAME[info.dtype].kind in {"int", "bool"} and found.finite:  # float64 rounds large ones
            exact = part if part.dtype is torch.int64 else part.to(torch.float64)
            found.minimum, found.maximum = int(exact.min()), int(exact.max())
    return found


def _by_decoding(info: TensorInfo, count: int) -> Statistics:
    found = Statistics(total=info.numel)
    width = BY_NAME[info.dtype].size
    with open("/proc/self/mem", "rb", buffering=0) as memory:  # noqa: PTH123  (a device of the kernel)
        for start in range(0, count, _PART):
            memory.seek(info.data + start * width)
            found.add(values(info, memory.read(min(_PART, count - start) * width)))
    return found


def _add_real(torch: Any, part: Any, found: Statistics) -> None:
    finite = part[torch.isfinite(part)]
    found.nan = int(torch.isnan(part).sum())
    found.positive_infinity = int((part == math.inf).sum())
    found.negative_infinity = int((part == -math.inf).sum())
    found.finite = finite.numel()
    if found.finite:
        found.minimum, found.maximum = finite.min().item(), finite.max().item()
        _add_moments(finite, found)


def _add_complex(torch: Any, part: Any, found: Statistics) -> None:
    finite = part[torch.isfinite(part)]
    found.nan = int(torch.isnan(part).sum())
    found.finite = finite.numel()
    found.positive_infinity = part.numel() - found.finite - found.nan
    if found.finite:
        _add_moments(finite, found)


def _add_moments(finite: Any, found: Statistics) -> None:
    mean = finite.mean()
    found.mean = mean.item()
    found.squares = float(((finite - mean).abs() ** 2).sum())
