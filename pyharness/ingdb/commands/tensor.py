"""ph-tensor: one tensor in full, with statistics, into a file."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import gdb

from pyharness.ingdb import terminal, torch_process
from pyharness.ingdb.calls import expressions
from pyharness.ingdb.functions import trap_line
from pyharness.ingdb.printers import values as tensor_values
from pyharness.ingdb.prompt.registry import COMMANDS, command
from pyharness.ingdb.python import locals as python_locals
from pyharness.ingdb.tensors import format as tensor_format
from pyharness.ingdb.tensors import npy
from pyharness.ingdb.tensors.statistics import statistics
from pyharness.model.errors import HarnessError, UsageError, nearest
from pyharness.model.tensors.elements import EDGE, THRESHOLD
from pyharness.reading.process.memory import UnreadableError

if TYPE_CHECKING:
    from pyharness.model.tensors.statistics import Statistics
    from pyharness.model.tensors.tensor import TensorInfo

MAX_FULL = 1_000_000
_NAME = "ph-tensor"
_USAGE = "ph-tensor EXPR [--stats] [--full | --max N] [--save FILE.npy] [--json]"
_FLAGS = ("--stats", "--full", "--json")
_VALUED = ("--max", "--save")


@dataclass
class Request:
    """What was typed."""

    expression: str
    stats: bool = False
    json: bool = False
    shown: int = THRESHOLD
    save: str | None = None


def parse(text: str) -> Request:
    """The request that ``text`` is: an expression of any words, then options."""
    start = re.search(r"(^|\s)--[a-z]", text)
    request = Request(text[: start.start()].strip() if start else text.strip())
    options = iter(_words(text[start.start() :] if start else ""))
    for option in options:
        if option in _VALUED:
            _set(request, option, next(options, None))
        elif option in _FLAGS:
            _set(request, option, "")
        else:
            raise UsageError(f"ph-tensor has no option {option}.", nearest(option, (*_FLAGS, *_VALUED)) or _USAGE)
    if not request.expression:
        raise UsageError("ph-tensor needs an expression, a Python variable or the address of a TensorImpl.", _USAGE)
    return request


def _words(options: str) -> list[str]:
    try:
        return shlex.split(options)
    except ValueError as error:
        raise UsageError(f"Cannot read the options: {error}.", _USAGE) from error


def _set(request: Request, option: str, value: str | None) -> None:
    if value is None:
        raise UsageError(f"{option} needs a value.", _USAGE)
    if option == "--max":
        if not value.isdigit() or not 0 < int(value) <= MAX_FULL:
            raise UsageError(f"--max takes a number of elements from 1 to {MAX_FULL}, not {value}.", _USAGE)
        request.shown = int(value)
    elif option == "--save":
        request.save = value
    elif option == "--full":
        request.shown = MAX_FULL
    else:
        setattr(request, option.removeprefix("--"), True)


def find_tensor(expression: str) -> TensorInfo:
    """The tensor that an expression means: C++ in the selected frame, an address, or a Python variable."""
    if held := trap_line.tensor_address(expression):
        return tensor_values.tensor_at(held)
    if re.fullmatch(r"0x[0-9a-fA-F]+|\d+", expression):
        address = int(expression, 0)
        return tensor_values.tensor_of_python(address) or tensor_values.tensor_at(address)
    try:
        value = expressions.evaluate(expression)
        found = tensor_values.tensor_of(value)
        problem = f"{expression} is not a tensor but {tensor_values.value_text(value)}."
    except gdb.error as error:
        found, problem = None, f"{expression} cannot be evaluated: {error}"
    found = found or _python_variable(expression)
    if found is None:
        raise UsageError(problem, "Give a C++ expression, a variable of the Python frame, or a TensorImpl's address.")
    return found


def _python_variable(name: str) -> TensorInfo | None:
    """The tensor in a local variable of the innermost Python frame that has one of this name."""
    address = python_locals.address_of(name) if name.isidentifier() else None
    return tensor_values.tensor_of_python(address) if address else None


def ph_tensor(argument: str) -> None:
    """Show a tensor from memory alone: shape, type, history, elements; on request statistics, and a NumPy file.

    Usage: ph-tensor EXPR [--stats] [--full | --max N] [--save FILE.npy] [--json]
    EXPR is a C++ expression of the selected frame (a tensor, a reference, a pointer, an optional of one), a variable
    of the innermost Python frame, or the address of a c10::TensorImpl.
    """
    request = parse(argument)
    info = find_tensor(request.expression)
    found = _statistics(info) if request.stats else None
    if request.json:
        shown = tensor_format.to_json(torch_process.read, info, found, request.shown)
        terminal.write_json(shown)
    else:
        for line in tensor_format.describe(torch_process.read, info, found, EDGE, request.shown):
            terminal.write(line)
    if request.save:
        terminal.write(npy.save(torch_process.read, info, str(Path(request.save).expanduser())))


def _statistics(info: TensorInfo) -> Statistics | None:
    if info.state != "defined" or info.unreadable:
        return None
    try:
        return statistics(torch_process.read, info)
    except UnreadableError as error:
        remedy = "Its memory is not in this process or core (freed, or left out of the core file)."
        raise HarnessError(f"The elements cannot be read: {error}.", remedy) from error


def register() -> None:
    """Make the command known to gdb; once."""
    if _NAME not in COMMANDS:
        command(_NAME, gdb.COMMAND_DATA)(ph_tensor)
