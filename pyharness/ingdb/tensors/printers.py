"""gdb pretty printers for torch's types, from memory alone: no call into the program, so cores are fine."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import gdb
import gdb.printing

from pyharness.ingdb import torch_process
from pyharness.ingdb.tensors.address import holds_tensor, impl_address, plain_type, referred, type_name
from pyharness.ingdb.tensors.format import one_line
from pyharness.ingdb.tensors.reading import DEVICES, read_tensor
from pyharness.model.tensors.dtypes import DTYPES
from pyharness.model.tensors.text import number
from pyharness.model.text.visible import visible
from pyharness.reading.process.memory import Memory, UnreadableError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Show = Callable[[gdb.Value], str]

MAX_SHOWN = 20
_MAX_LENGTH = 1 << 32
_SHOWN: list[tuple[re.Pattern[str], Show]] = []


def shows(pattern: str) -> Callable[[Show], Show]:
    """Register how values are shown whose type's name is matched whole by ``pattern``."""

    def register_show(show: Show) -> Show:
        _SHOWN.append((re.compile(pattern), show))
        return show

    return register_show


class Printer:
    """What gdb asks for a value's text."""

    def __init__(self, value: gdb.Value, show: Show) -> None:
        self._value = value
        self._show = show

    def to_string(self) -> str:
        """The text; a placeholder where something cannot be read: a printer that raises hides the whole value."""
        try:
            return self._show(self._value)
        except (gdb.error, UnreadableError, OSError, OverflowError) as error:
            return f"<unreadable {type_name(self._value.type)}: {error}>"


def find(value: gdb.Value) -> Printer | None:
    """The printer of a value, ``None`` where it is none of torch's types."""
    kind = plain_type(value.type)
    if holds_tensor(kind):
        return Printer(value, _tensor)
    name = kind.name or ""
    if kind.code == gdb.TYPE_CODE_PTR or not name:
        return None
    show = next((show for pattern, show in _SHOWN if pattern.fullmatch(name)), None)
    return Printer(value, show) if show else None


class _OnTerminal(Printer):
    """A printer for gdb itself, which prints text as it is."""

    def __init__(self, printer: Printer) -> None:
        super().__init__(printer._value, printer._show)  # noqa: SLF001  (of its own class)

    def to_string(self) -> str:
        """The text, with nothing in it that a terminal obeys."""
        return visible(super().to_string())


class _Printers:
    """What gdb keeps in its list of printers; ``disable pretty-printer global pyharness`` turns it off."""

    name = "pyharness"
    enabled = True
    subprinters = None

    def __call__(self, value: gdb.Value) -> Printer | None:
        found = find(value)
        return _OnTerminal(found) if found else None


def register() -> None:
    """Have gdb ask `find` for every value it prints."""
    gdb.printing.register_pretty_printer(None, _Printers(), replace=True)


def text_of(value: gdb.Value) -> str:
    """A member or element: by its printer, else as gdb prints it."""
    printer = find(value)
    return printer.to_string() if printer else referred(value).format_string(max_elements=MAX_SHOWN)


def _tensor(value: gdb.Value) -> str:
    if value.is_optimized_out:
        return "<optimized out>"
    address = impl_address(Memory(torch_process.read), value)
    text = one_line(torch_process.read, read_tensor(torch_process.read, address, torch_process.tensor_layout()))
    kind = plain_type(value.type)
    return f"({kind.unqualified()}) {address:#x} {text}" if kind.code == gdb.TYPE_CODE_PTR else text


def _listed(values: Iterator[gdb.Value], length: int) -> str:
    shown = [text_of(value) for value in values]
    return f"[{', '.join(shown + ['…'] * (length > len(shown)))}]" + (f" ({length})" if length > len(shown) else "")


def items(first: gdb.Value, length: int) -> str:
    """``length`` values from the pointer ``first`` on, the first `MAX_SHOWN` of them shown."""
    if not 0 <= length < _MAX_LENGTH:
        return f"<corrupt: a length of {length}>"
    return _listed(((first + index).dereference() for index in range(min(length, MAX_SHOWN))), length)


@shows(r"(?:c10|at)::(?:HeaderOnly)?ArrayRef<.*>")
def _array_ref(value: gdb.Value) -> str:
    return items(value["Data"], int(value["Length"]))


@shows(r"(?:c10|llvm)::SmallVector(?:Impl)?<.*>")
def _small_vector(value: gdb.Value) -> str:
    element = plain_type(value.type).template_argument(0)
    return items(value["BeginX"].cast(element.pointer()), int(value["Size"]))


@shows(r"std::vector<at::Tensor, .*>|std::vector<c10::(?:IValue|SymInt|Scalar|Device), .*>")
def _vector(value: gdb.Value) -> str:
    first, last = value["_M_impl"]["_M_start"], value["_M_impl"]["_M_finish"]
    return items(first, int(last) - int(first) and (int(last) - int(first)) // first.dereference().type.sizeof)


@shows(r"std::optional<(?:at|c10)::.*>|std::optional<(?:bool|int|long|float|double)>")
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


@shows(r"c10::Device")
def _device(value: gdb.Value) -> str:
    kind, index = int(value["type_"].cast(_byte())), int(value["index_"])
    name = DEVICES[kind] if kind < len(DEVICES) else f"DeviceType({kind})"
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


def enumerator(value: gdb.Value) -> str:
    """``Double`` of ``c10::IValue::Tag::Double``."""
    return str(value).rpartition("::")[2]
