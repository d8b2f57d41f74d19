"""The buffers of a kernel as tensors: the wrapper that calls it has them, the kernel itself sees pointers alone."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from math import prod
from typing import TYPE_CHECKING

from pyharness.ingdb.printers.values import tensor_of_cxx, tensor_of_python, value_text
from pyharness.ingdb.variables.frame import frame_globals, frame_locals
from pyharness.ingdb.variables.items import Item
from pyharness.ingdb.variables.python import python_item
from pyharness.ingdb.variables.tensor import tensor_item
from pyharness.model.frozen import frozen
from pyharness.model.kernel_elements import OPTIMIZED
from pyharness.model.kernel_frames import text_of
from pyharness.model.kernel_text import computed, passed, passed_in_cxx
from pyharness.model.tensors.tensor import TensorInfo
from pyharness.model.variable import Variable
from pyharness.reading.process.memory import UnreadableError

if TYPE_CHECKING:
    from collections.abc import Iterator

    import gdb

    from pyharness.ingdb.variables.kernels.frame import KernelFrame
    from pyharness.model.kernel_text import Parameter

_ELSEWHERE = (
    "<not known here: this thread of OpenMP's has no Python on its stack. Select the thread that called the kernel.>"
)


@frozen
class Passed:
    """An argument of the call that runs."""

    parameter: str
    type: str
    name: str
    """What the wrapper calls it: ``buf0``."""


def arguments(kernel: KernelFrame) -> tuple[Passed, ...]:
    """What the wrapper passes, in order; empty where its call cannot be read."""
    caller, taken = kernel.wrapper, kernel.parameters
    if caller is None or not caller.file or not caller.line or not kernel.standings:
        return ()
    lines = text_of(caller.file)
    line = lines[caller.line - 1] if caller.line <= len(lines) else ""
    words = passed_in_cxx if kernel.cxx_caller else passed
    given = words(line, kernel.standings[0].kernel.name)
    if len(given) != len(taken):
        return ()
    return tuple(Passed(each.name, each.type, name) for each, name in zip(taken, given, strict=True))


def buffers(kernel: KernelFrame) -> Iterator[Item]:
    """Each argument of the kernel with its tensor or number."""
    given = arguments(kernel)
    for argument in given:
        yield _item(kernel, argument)
    for parameter in () if given else kernel.parameters:
        if item := _by_map(kernel, parameter):
            yield item


def buffer_named(kernel: KernelFrame, name: str) -> Item | None:
    """The argument of that name, the kernel's or the wrapper's; ``None`` where there is none."""
    for argument in arguments(kernel):
        if name in {argument.parameter, argument.name}:
            return _item(kernel, argument)
    parameter = next((each for each in kernel.parameters if each.is_buffer and each.name == name), None)
    if kernel.wrapper is None and parameter:
        return Item(Variable(name, _ELSEWHERE)) if kernel.is_optimized else _by_map(kernel, parameter)
    return None


def _by_map(kernel: KernelFrame, parameter: Parameter) -> Item | None:
    """What a pointer points to, as the kernel's map has it; ``None`` where it, or the pointer, is not known."""
    layouts = {each for here in kernel.standings for each in here.use.buffers if each.name == parameter.name}
    pointer = kernel.value(parameter.name)
    if len(layouts) != 1 or pointer is None:
        return None
    (layout,) = layouts
    try:
        sizes, strides = (
            tuple(int(computed(each, partial(number_named, kernel))) for each in of)
            for of in (layout.shape, layout.strides)
        )
    except ValueError:
        return None
    info = TensorInfo(0, dtype=layout.dtype, sizes=sizes, strides=strides, numel=prod(sizes), data=int(pointer))
    return tensor_item(parameter.name, info, parameter.type)


def number_named(kernel: KernelFrame, name: str) -> int:
    """A size that is passed to the kernel, as the wrapper has it; ``ValueError`` where it has none."""
    if kernel.cxx_caller or kernel.wrapper is None:
        if (value := kernel.value(name)) is None:
            raise ValueError(f"{name} is not known")
        return int(value)
    found = next((each for each in arguments(kernel) if each.parameter == name), None)
    address = _address(kernel, found.name) if found else 0
    _, python = kernel.caller
    if not address or python is None or found is None:
        raise ValueError(f"{name} is not known")
    return int(python.values.describe(address))


def _item(kernel: KernelFrame, argument: Passed) -> Item:
    if kernel.cxx_caller:
        return _item_in_cxx(kernel, kernel.cxx_caller, argument)
    address = _address(kernel, argument.name)
    _, python = kernel.caller
    if not address or python is None:
        return Item(Variable(argument.parameter, f"<{argument.name}: the wrapper does not have it>", argument.type))
    info = tensor_of_python(address)
    if info is None:
        return python_item(python.values, argument.parameter, address)
    return _buffer(argument, info)


def _buffer(argument: Passed, info: TensorInfo) -> Item:
    item = tensor_item(argument.parameter, info, argument.type)
    strides = f" strides {list(info.strides)}" if info.state == "defined" and not info.is_contiguous else ""
    text = f"{argument.name}: {item.variable.value}{strides}"
    return Item(replace(item.variable, value=text, evaluate=argument.parameter), item.content)


def _item_in_cxx(kernel: KernelFrame, caller: gdb.Frame, argument: Passed) -> Item:
    """An argument that a wrapper in C++ passes, whose variables torch's own build lacks."""
    if argument.type.endswith("*"):
        try:
            info = tensor_of_cxx(caller.read_var(argument.name))
        except (ValueError, RuntimeError):  # no debug information has it
            return Item(Variable(argument.parameter, _not_built(argument.name), argument.type))
        if info is not None:
            return _buffer(argument, info)
    value = kernel.value(argument.parameter)
    text = _not_built(argument.name) if value is None else value_text(value)
    return Item(Variable(argument.parameter, text, argument.type))


def _not_built(name: str) -> str:
    return f"<{name} of the wrapper: {OPTIMIZED}>"


def _address(kernel: KernelFrame, name: str) -> int:
    """Where the wrapper's variable is; 0 where it has none."""
    caller, python = kernel.caller
    if caller is None or python is None:
        return 0
    try:
        found = dict(frame_locals(python, caller))
        return found.get(name) or dict(frame_globals(python, caller)).get(name, 0)
    except UnreadableError:
        return 0
