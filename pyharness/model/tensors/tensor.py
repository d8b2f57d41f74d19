"""What a debugger can say of one tensor without running the program."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pyharness.model.frozen import frozen

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pyharness.model.frames import AutogradNode

SYMBOLIC = "symbolic sizes"
"""The note of a tensor whose sizes are expressions, in no memory that is laid out for a debugger."""
DLTENSOR = "DLTensor"
"""The kind of a tensor of DLPack's."""
State = Literal["defined", "undefined", "null", "corrupt", "uninitialized"]


@frozen
class Quantization:
    """The scale of a per-tensor quantized tensor: ``value = (stored - zero_point) * scale``."""

    scale: float
    zero_point: int


@frozen
class TensorInfo:
    """One ``c10::TensorImpl``, or a tensor of another library, as read from memory: the program computed nothing.

    What only torch has is left at its default for a tensor of another library.
    """

    address: int
    """The address of the TensorImpl, or of what the other library has for it."""
    state: State = "defined"
    problem: str | None = None
    """Why the tensor is corrupt."""
    kind: str | None = None
    """C++ class of the TensorImpl, ``None`` where its name cannot be read."""
    dtype: str = "undefined"
    """The dtype as torch names it, without ``torch.``; ``ScalarType(N)`` for one that this table does not know."""
    sizes: tuple[int, ...] = ()
    strides: tuple[int, ...] = ()
    """In elements."""
    offset: int = 0
    """``storage_offset``, in elements."""
    numel: int = 0
    device: str = "cpu"
    layout: str = "strided"
    requires_grad: bool = False
    grad_fn: AutogradNode | None = None
    has_grad: bool = False
    version: int | None = None
    """How often it was written in place; ``None`` where torch does not count (inference tensors)."""
    data: int = 0
    """Address of the first element, 0 where there is none."""
    storage_bytes: int = 0
    conjugated: bool = False
    """A lazy conjugate view: the elements in memory are the conjugates of the tensor's."""
    negated: bool = False
    """A lazy negative view: the elements in memory are the negatives of the tensor's."""
    quantization: Quantization | None = None
    unreadable: str | None = None
    """Why the elements cannot be read from here, ``None`` where they can."""
    notes: tuple[str, ...] = ()
    parts: tuple[tuple[str, TensorInfo], ...] = ()
    """The indices and values of a sparse tensor."""
    is_of_torch: bool = True
    """Whether torch has it, with a storage and autograd."""

    @property
    def is_leaf(self) -> bool:
        """Whether the tensor is a leaf, as ``Tensor.is_leaf`` says."""
        return self.grad_fn is None

    @property
    def is_contiguous(self) -> bool:
        """Whether the tensor is contiguous, as ``Tensor.is_contiguous()`` says."""
        return self._has_no_gaps(reversed(range(len(self.sizes))))

    @property
    def order(self) -> str:
        """``contiguous`` or ``not contiguous``; ``column-major`` of an array of another library that is so."""
        if self.is_contiguous:
            return "contiguous"
        if not self.is_of_torch and self._has_no_gaps(range(len(self.sizes))):
            return "column-major"
        return "not contiguous"

    def _has_no_gaps(self, fastest_first: Iterable[int]) -> bool:
        """Whether the elements lie one after another, the dimensions from the one that runs fastest."""
        expected = 1
        for index in fastest_first:
            size = self.sizes[index]
            if size != 1 and self.strides[index] != expected and self.numel:
                return False
            expected *= size
        return True
