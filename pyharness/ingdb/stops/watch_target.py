"""What a data breakpoint watches: an element of a tensor, a small tensor, or any C++ value that lies in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

import gdb

from pyharness.ingdb import call_operators
from pyharness.ingdb.printers import values as tensor_values
from pyharness.ingdb.settings import temporarily
from pyharness.ingdb.tensors.address import plain_type, referred
from pyharness.ingdb.tensors.held import may_hold_tensor
from pyharness.model.errors import HarnessError, UsageError
from pyharness.model.frozen import frozen
from pyharness.model.tensors.dtypes import BY_NAME
from pyharness.model.tensors.elements import values
from pyharness.model.tensors.text import number

if TYPE_CHECKING:
    from pyharness.ingdb.mi.merged_frame import Place
    from pyharness.model.tensors.dtypes import Number
    from pyharness.model.tensors.tensor import TensorInfo

_REMEDY = "Name an element (x[3, 2]), a variable or a member that lies in memory, or give an address."
_DIGITS = 9


@frozen
class Target:
    """``length`` bytes at ``address``, and how a person reads them."""

    address: int
    length: int
    name: str
    """The name of the target, such as ``x[3, 2] (float32)``."""
    tensor: TensorInfo | None = None
    type: gdb.Type | None = None

    def values(self, raw: bytes) -> list[Number]:
        """The bytes as numbers: elements of the tensor, or one integer or floating-point number of the type."""
        if self.tensor:
            return values(self.tensor, raw)
        kind = plain_type(self.type) if self.type else None
        if kind is None or kind.code not in _NUMBERS:
            return [int.from_bytes(raw, "little")] if len(raw) <= 8 else []
        value = gdb.Value(raw, kind)
        return [float(value) if kind.code == gdb.TYPE_CODE_FLT else int(value)]

    def text(self, raw: bytes) -> str:
        """The bytes for a person."""
        if self.tensor:
            shown = [number(value, _DIGITS) for value in values(self.tensor, raw)]
            return shown[0] if len(shown) == 1 else f"[{', '.join(shown)}]"
        if self.type:
            return tensor_values.value_text(gdb.Value(raw, self.type))
        return hex(int.from_bytes(raw, "little")) if len(raw) <= 8 else raw.hex(" ")


_NUMBERS = frozenset({gdb.TYPE_CODE_INT, gdb.TYPE_CODE_FLT, gdb.TYPE_CODE_CHAR, gdb.TYPE_CODE_BOOL, gdb.TYPE_CODE_ENUM})
_CODE = frozenset({gdb.TYPE_CODE_FUNC, gdb.TYPE_CODE_METHOD})
"""Types of functions: nobody watches one, and a variable of Python's may have its name."""


def at_address(address: int, length: int) -> Target:
    """Bare memory."""
    if length <= 0:
        raise UsageError(f"A data breakpoint cannot be {length} bytes long.", "Give a length of 1 to 32 bytes.")
    return Target(address, length, f"{length} bytes")


def named(place: Place, expression: str) -> Target:
    """What ``expression`` is in a frame; nothing is called in the program to find out."""
    base, indices = split(expression)
    with temporarily("may-call-functions", "off"):
        tensor = tensor_named(place, base)
        if tensor:
            return _of_tensor(tensor, base, [_index(place, index) for index in indices])
        return _of_value(place, expression)


def of_object(address: int, expression: str) -> Target:
    """The target in the Python object at ``address``, which ``expression`` names before its indices."""
    base, indices = split(expression)
    tensor = tensor_values.tensor_of_python(address)
    if tensor is None:
        raise UsageError(f"{base} is not a tensor.", _REMEDY)
    return _of_tensor(tensor, base, [_number(index) for index in indices])


def split(expression: str) -> tuple[str, list[str]]:
    """``x[i][1, -2]``, or ``x(1, 2)``, as ``x`` and its indices."""
    base = expression.strip()
    groups: list[str] = []
    while base.endswith(("]", ")")):
        start = call_operators.opening(base)
        if start <= 0:
            break
        groups.insert(0, base[start + 1 : -1])
        base = base[:start].rstrip()
    return base, [index.strip() for group in groups for index in group.split(",")]


def tensor_named(place: Place, base: str) -> TensorInfo | None:
    """The tensor of a C++ expression or of a Python variable; ``None`` where it is none."""
    if place.native:
        try:
            value = call_operators.parsed(base)
        except gdb.error:
            pass
        else:
            if value.type.code not in _CODE:
                return _tensor_of(value)
    return place.python_tensor(base)


def _tensor_of(value: gdb.Value) -> TensorInfo | None:
    kind = plain_type(value.type)
    inner = plain_type(kind.target()) if kind.code == gdb.TYPE_CODE_PTR else kind
    mine = may_hold_tensor(kind) or (inner.name or "").startswith(("_object", "PyObject"))
    return tensor_values.tensor_of(value) if mine else None


def _index(place: Place, text: str) -> int:
    try:
        if place.native:
            return int(gdb.parse_and_eval(text))
    except gdb.error:
        pass
    return _number(text)


def _number(text: str) -> int:
    try:
        return int(text)
    except ValueError as error:
        raise UsageError(f"{text!r} is not an index that can be read here.", "Give numbers, as in x[3, 2].") from error


def _of_tensor(info: TensorInfo, name: str, indices: list[int]) -> Target:
    if info.state != "defined":
        raise HarnessError(f"{name} is not a tensor with memory: it is {info.state}.", info.problem or _REMEDY)
    if info.unreadable:
        raise HarnessError(f"{name} has no elements in the program's memory: {info.unreadable}.", _REMEDY)
    if len(indices) > len(info.sizes):
        raise UsageError(f"{name} has {len(info.sizes)} dimensions, not {len(indices)}.", _REMEDY)
    offset = sum(_place(name, info, dimension, index) for dimension, index in enumerate(indices))
    sizes, strides = info.sizes[len(indices) :], info.strides[len(indices) :]
    shown = f"{name}[{', '.join(map(str, indices))}]" if indices else name
    width, count = BY_NAME[info.dtype].size, _contiguous(shown, sizes, strides)
    kind = info.dtype if not sizes else f"{info.dtype} {list(sizes)}"
    return Target(info.data + offset * width, count * width, f"{shown} ({kind})", info)


def _place(name: str, info: TensorInfo, dimension: int, index: int) -> int:
    size = info.sizes[dimension]
    if not -size <= index < size:
        raise UsageError(f"Index {index} is out of bounds for dimension {dimension} of {name} with size {size}.")
    return (index % size) * info.strides[dimension]


def _contiguous(name: str, sizes: tuple[int, ...], strides: tuple[int, ...]) -> int:
    """How many elements these dimensions have, which must lie side by side."""
    count = 1
    for size, stride in sorted(zip(sizes, strides, strict=True), key=lambda pair: pair[1]):
        if size == 0:
            raise HarnessError(f"{name} has no elements.")
        if size > 1 and stride != count:
            raise HarnessError(f"The elements of {name} do not lie side by side.", "Name one element: x[3, 2].")
        count *= size
    return count


def _of_value(place: Place, expression: str) -> Target:
    if not place.native:
        raise UsageError(f"This Python frame has no tensor {expression!r}.", _REMEDY)
    try:
        value = referred(call_operators.parsed(expression))
    except gdb.error as error:
        raise UsageError(f"{expression} cannot be evaluated: {error}.".replace("..", "."), _REMEDY) from error
    if value.is_optimized_out or value.address is None:
        raise HarnessError(
            f"{expression} has no address: it is in a register, or the result of a computation.", _REMEDY
        )
    return Target(int(value.address), value.type.sizeof, f"{expression} ({value.type})", None, value.type)
