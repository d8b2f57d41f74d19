"""Values to call an op with, as Python writes them: from its schema, else from the types of its C++ function."""

from __future__ import annotations

import keyword
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyharness.project.ops import Op

TENSOR = "torch.rand(4, 4)"
FILL_IN = "..."
_TAKEN = {"torch", "extension", "made", "print", "libraries", "library"}
_VALUES = {
    "Tensor": TENSOR,
    "int": "2",
    "SymInt": "2",
    "float": "0.5",
    "bool": "False",
    "str": '""',
    "Scalar": "1.0",
    "ScalarType": "torch.float32",
    "Device": 'torch.device("cpu")',
    "Layout": "torch.strided",
    "MemoryFormat": "torch.contiguous_format",
}
_CXX = {
    "Tensor": ("Tensor", "Variable", "TensorBase"),
    "int": ("int", "int64_t", "int32_t", "long", "long long", "size_t", "uint64_t", "unsigned", "SymInt", "short"),
    "float": ("float", "double"),
    "bool": ("bool",),
    "str": ("string", "string_view"),
    "Scalar": ("Scalar",),
    "ScalarType": ("ScalarType", "Dtype"),
    "Device": ("Device",),
}
_SCHEMA_TYPE = {name: kind for kind, names in _CXX.items() for name in names}
_LISTS = {"TensorList": "Tensor", "IntArrayRef": "int", "SymIntArrayRef": "int", "OptionalIntArrayRef": "int"}
_LIST = re.compile(r"(?:vector|ArrayRef|List|initializer_list|span|array|HeaderOnlyArrayRef)<(.*)>")
_OPTIONAL = re.compile(r"optional<.*>|nullopt_t")
_ARGUMENT = re.compile(r"(?P<type>[\w.]+(?:\([^)]*\))?)(?P<suffix>(?:\[\d*\]|\?)*)\s+(?P<name>\w+)(?P<default>\s*=.*)?")


@dataclass(frozen=True)
class Argument:
    """What an op is called with."""

    name: str
    value: str
    """``...`` where nothing can be guessed."""
    by_name: bool = False

    @property
    def variable(self) -> str:
        """A name that Python takes, and that the script does not use itself."""
        return f"{self.name}_" if keyword.iskeyword(self.name) or self.name in _TAKEN else self.name

    @property
    def passed(self) -> str:
        """The argument as it stands in the call."""
        if not self.by_name:
            return self.variable
        plain = not keyword.iskeyword(self.name)
        return f"{self.name}={self.variable}" if plain else f'**{{"{self.name}": {self.variable}}}'


def arguments(op: Op) -> list[Argument]:
    """The arguments that the op must be given."""
    return list(_of_schema(op.schema)) if op.schema else list(_of_parameters(op))


def _of_schema(schema: str) -> Iterator[Argument]:
    """Source of the grammar: PyTorch's ``aten/src/ATen/native/README.md``."""
    inside = schema.partition("->")[0].strip()
    inside = inside.removeprefix("(").removesuffix(")")
    by_name = False
    for number, piece in enumerate(_between_commas(inside), 1):
        if piece == "*":
            by_name = True
        elif (found := _ARGUMENT.fullmatch(piece)) is None:
            yield Argument(f"argument_{number}", FILL_IN)
        elif not found["default"]:
            yield Argument(found["name"], _value(found["type"].partition("(")[0], found["suffix"]), by_name)


def _value(kind: str, suffix: str) -> str:
    if suffix.endswith("?") or kind == "Generator":
        return "None"
    one = _VALUES.get(kind, FILL_IN)
    if size := re.search(r"\[(\d*)\]", suffix):
        return f"[{', '.join([one] * int(size[1] or 1))}]"
    return one


def _of_parameters(op: Op) -> Iterator[Argument]:
    taken: set[str] = set()
    for number, parameter in enumerate(op.parameters, 1):
        name = parameter.name if parameter.name and parameter.name not in taken else f"argument_{number}"
        taken.add(name)
        yield Argument(name, of_cxx(parameter.type))


def of_cxx(kind: str) -> str:
    """A value of a C++ type; ``...`` where nothing can be guessed."""
    kind = re.sub(r"\b\w+::", "", kind)
    if _OPTIONAL.fullmatch(kind):
        return "None"
    if kind in _LISTS:
        return f"[{_VALUES[_LISTS[kind]]}]"
    if inside := _LIST.fullmatch(kind):
        return f"[{of_cxx(inside[1].partition(',')[0])}]"
    return _VALUES[_SCHEMA_TYPE[kind]] if kind in _SCHEMA_TYPE else FILL_IN


def _between_commas(text: str) -> Iterator[str]:
    """Apart at commas outside of brackets."""
    depth, start = 0, 0
    for index, letter in enumerate(f"{text},"):
        depth += {"[": 1, "(": 1, "]": -1, ")": -1}.get(letter, 0)
        if letter == "," and not depth:
            if piece := text[start:index].strip():
                yield piece
            start = index + 1
