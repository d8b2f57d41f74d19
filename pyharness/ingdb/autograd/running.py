"""The autograd node that a thread in gdb runs, from memory alone, and the frame that runs it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import gdb

from pyharness.ingdb import torch_process
from pyharness.ingdb.functions import native_names
from pyharness.reading.autograd.current import (
    GETTER,
    NODE,
    frame_applies,
    frame_runs_node,
    node_at,
    running_node,
    variable_of_getter,
)
from pyharness.reading.functions.cxx_class import classes
from pyharness.reading.process.memory import Memory, UnreadableError

if TYPE_CHECKING:
    from pyharness.model.frames import AutogradNode
    from pyharness.reading.process.thread_local import ThreadLocal

_variables: dict[tuple[str, int, int], ThreadLocal] = {}


def current_node(thread: gdb.InferiorThread, function: str = "") -> AutogradNode | None:
    """The node that a thread runs now; ``None`` where it runs none, or where that cannot be known.

    Nor is there one where ``function`` is the ``apply`` of another class: it runs an outer node.
    """
    memory = Memory(torch_process.read)
    try:
        variable = _variable(memory)
        pointer = thread_pointer(thread) if variable else 0
    except (UnreadableError, gdb.error):
        return None
    running = running_node(memory, variable, pointer, torch_process.tensor_layout()) if variable else None
    return running.run_by(function) if running else None


def _variable(memory: Memory) -> ThreadLocal | None:
    library = torch_process.torch_library()
    if library is None:
        return None
    key = (library.path, library.bias, gdb.selected_inferior().pid)
    if key not in _variables:
        getter = library.elf.symbol(GETTER)
        if getter is None:
            return None
        _variables[key] = variable_of_getter(memory, library.bias + getter)
    return _variables[key]


def thread_pointer(thread: gdb.InferiorThread) -> int:
    """The address of a thread's control block: the base of its FS segment."""
    before = gdb.selected_thread()
    frame = gdb.selected_frame() if before else None
    try:
        if before is None or thread.num != before.num:
            thread.switch()
        return int(gdb.newest_frame().read_register("fs_base")) & (1 << 64) - 1
    finally:
        if before is not None and before.is_valid() and gdb.selected_thread() != before:
            before.switch()
        if frame is not None and frame.is_valid():
            frame.select()


def node_of(frame: gdb.Frame, function: str) -> AutogradNode | None:
    """The node that a frame of the selected thread runs, ``None`` where it runs none.

    Where debug information knows the frame's ``this``, that is the node: outer nodes of a reentrant backward, too.
    Else it is the thread's current node, for the innermost frame that can run it.
    """
    own = _own_node(frame, function)
    if own is not None or not frame_runs_node(function):
        return own
    newer = frame.newer()
    while newer is not None:
        name = native_names.name_of(newer)[0]
        if frame_runs_node(name) or _own_node(newer, name):
            return None
        newer = newer.newer()
    thread = gdb.selected_thread()
    return current_node(thread, function) if thread else None


def _own_node(frame: gdb.Frame, function: str) -> AutogradNode | None:
    """The node whose ``apply`` a frame with debug information runs."""
    if frame.function() is None or not frame_applies(function):
        return None
    try:
        address = int(frame.read_var("this"))
    except (ValueError, gdb.error):
        return None
    memory = Memory(torch_process.read)
    return node_at(memory, address, torch_process.tensor_layout()) if NODE in classes(memory, address) else None
