"""The ops of a project: what Python can call, and the C++ function that it runs."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pyharness.project.reading.cxx_functions import read
from pyharness.project.reading.registrations import Via, registrations
from pyharness.project.reading.sources import is_test, text_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from pyharness.project.reading.cxx_functions import CxxFile, Function, Parameter
    from pyharness.project.reading.registrations import Registration

_DEVICE = re.compile(r"CUDA|HIP|XPU|MPS|Meta|Vulkan|PrivateUse|NestedTensor|Sparse|Quantized|Fake|Functionalize")
_CPU = ("CPU", "AutogradCPU")
_MACRO_NAMESPACE = re.compile(r"TORCH_EXTENSION_NAME|[A-Z][A-Z0-9_]+")


@dataclass(frozen=True)
class Op:
    """Something that Python calls and C++ runs."""

    via: Via
    namespace: str
    """The namespace in the dispatcher, or the name of the pybind11 module; empty where only the build knows it."""
    name: str
    schema: str
    """``(arguments) -> returns`` of the dispatcher, empty where it is inferred from C++."""
    function: str
    """The C++ function, qualified; empty for a lambda."""
    file: str
    """Relative to the project; empty where the function's definition was not found."""
    line: int
    """The line of the function's first statement."""
    parameters: tuple[Parameter, ...]
    key: str
    in_tests: bool
    unique: bool
    """Whether no other function of the project has this name, so that a breakpoint by name stops in this one only."""
    constructor: tuple[str, ...] = ()
    """The C++ types that a method's class is made from."""

    @property
    def full_name(self) -> str:
        """The name as a person says it."""
        joint = "." if self.via == "module" else "::"
        return f"{self.namespace}{joint}{self.name}" if self.namespace else self.name

    @property
    def python_name(self) -> str:
        """The name as Python writes it."""
        owner = {"torch": f"torch.ops.{self.namespace}.", "class": f"torch.classes.{self.namespace}."}
        return f"{owner.get(self.via, '')}{self.name}"

    @property
    def place(self) -> str:
        """Where a debugger stops: the function by its name, which edits do not move, else the line."""
        return f"native:{self.function}" if self.unique or not self.line else f"native:{self.file}:{self.line}"

    @property
    def runs_on_cpu(self) -> bool:
        """Whether the op runs on the CPU, as far as its dispatch key and its file say."""
        return not _DEVICE.search(self.key) and not self.file.endswith((".cu", ".cuh"))


@dataclass(frozen=True)
class Source:
    """A C++ file of the project that was read."""

    file: str
    cxx: CxxFile
    in_tests: bool


class _Functions:
    """All functions of a project, by their last name."""

    def __init__(self, sources: list[Source]) -> None:
        self._by_name: dict[str, list[tuple[Source, Function]]] = {}
        for source in sources:
            for function in source.cxx.functions:
                self._by_name.setdefault(function.name.rpartition("::")[2], []).append((source, function))

    def definition(self, name: str, near: Source | None = None) -> tuple[Source, Function] | None:
        """The one that is meant: that of the same file before others, one for the CPU before a device's."""
        wanted = name.split("::")
        fits = [fit for fit in self._by_name.get(wanted[-1], []) if _means(wanted, fit[1].name.split("::"))]
        return min(fits, key=lambda fit: (fit[0] is not near, fit[0].file.endswith(".cu")), default=None)

    def is_unique(self, function: Function) -> bool:
        """Whether gdb, which lets namespaces be left out, can mean this one only."""
        return len(self._by_name[function.name.rpartition("::")[2]]) == 1


@dataclass(frozen=True)
class _Found:
    """A registration and the file that it is in."""

    source: Source
    registration: Registration


def read_sources(root: Path, paths: Iterable[Path]) -> list[Source]:
    """The C++ files."""
    return [
        Source(path.relative_to(root).as_posix(), read(text), is_test(path, root))
        for path in paths
        if (text := text_of(path))
    ]


def ops_of(sources: list[Source], module: str = "") -> list[Op]:
    """Every op with its function, the one to stop in first: on the CPU, found in a source, with tensors to look at.

    ``module`` is the name of the extension, which ``TORCH_EXTENSION_NAME`` stands for.
    """
    found = [_Found(source, one) for source in sources for one in registrations(source.cxx)]
    functions = _Functions(sources)
    ops = list(_torch_ops([one for one in found if one.registration.via == "torch"], functions, module))
    ops += [_op(one, functions, module) for one in found if one.registration.via != "torch"]
    return sorted(ops, key=_rank)


def _rank(op: Op) -> tuple[bool, ...]:
    tensors = "Tensor" in op.schema.partition("->")[0] or any("Tensor" in one.type for one in op.parameters)
    return (op.in_tests, not op.line, not op.runs_on_cpu, not tensors)


def _torch_ops(found: list[_Found], functions: _Functions, module: str) -> Iterator[Op]:
    """Ops of the dispatcher: definitions joined with their implementations."""
    defined = {one.registration.name: one for one in reversed(found) if one.registration.schema}
    spaces = dict.fromkeys(one.registration.namespace for one in found if one.registration.namespace)
    of_op: dict[tuple[str, str], list[_Found]] = {}
    for one in found:
        name = one.registration.name
        known = defined[name].registration.namespace if name in defined else ""
        space = one.registration.namespace or known or (next(iter(spaces)) if len(spaces) == 1 else "")
        of_op.setdefault((space, name), []).append(one)
    for (space, _name), same in of_op.items():
        best = min(same, key=lambda one: _suitable(one.registration, functions))
        schema = next((one.registration.schema for one in same if one.registration.schema), "")
        yield replace(_op(best, functions, module, space), schema=schema)


def _suitable(one: Registration, functions: _Functions) -> tuple[bool, bool, bool]:
    """The CPU's kernel before one for all devices, that before a device's; a name without a function last."""
    named = bool(one.lambda_line or any(functions.definition(name) for name in one.functions))
    return (not named, bool(_DEVICE.search(one.key)), one.key not in _CPU)


def _op(found: _Found, functions: _Functions, module: str, namespace: str = "") -> Op:
    one = found.registration
    space = namespace or one.namespace
    if _MACRO_NAMESPACE.fullmatch(space):
        space = module
    hit = next((hit for name in one.functions if (hit := functions.definition(name, found.source))), None)
    source, function = hit or (found.source, None)
    at = (function.body_line if function else one.lambda_line) or 0
    return Op(
        via=one.via,
        namespace=space,
        name=one.name,
        schema=one.schema,
        function="" if one.lambda_line else function.name if function else next(iter(one.functions), ""),
        file=source.file if at else "",
        line=at,
        parameters=function.parameters if function else one.parameters,
        key=one.key,
        in_tests=found.source.in_tests,
        unique=function is not None and functions.is_unique(function),
        constructor=one.constructor,
    )


def _means(wanted: list[str], defined: list[str]) -> bool:
    """Whether one of the two names ends in the other: either may leave namespaces out."""
    count = min(len(wanted), len(defined))
    return wanted[-count:] == defined[-count:]
