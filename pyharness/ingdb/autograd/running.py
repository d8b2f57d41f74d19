"""The autograd node that a native thread runs, from memory alone, and the frame that runs it.

The engine keeps it in a thread-local variable that ``torch::autograd::get_current_node`` reads. That function is
exported by every libtorch_cpu; its code says where the variable is, so nothing of torch's symbols is needed.
"""

from __future__ import annotations

import re
import struct
from typing import TYPE_CHECKING

import gdb

from pyharness.ingdb import torch_process
from pyharness.ingdb.functions import native_names
from pyharness.reading.autograd.graph import read_node
from pyharness.reading.functions.cxx_class import classes
from pyharness.reading.process.memory import Memory, UnreadableError
from pyharness.reading.process.thread_local import ThreadLocal, address_in_thread, of_accessor

if TYPE_CHECKING:
    from pyharness.model.frames import AutogradNode

_GETTER = "_ZN5torch8autograd16get_current_nodeEv"
_CALL_THROUGH = b"\xff\x15"  # call *disp32(%rip): through the accessor that c10::ThreadLocal holds
_CODE = 64
_NODE = "torch::autograd::Node"
# A node's own code, then the engine's: names may have parameters, as a symbol has, or not, as debug information.
_RUNS_NODE = re.compile(
    r"""torch::autograd:: (?: (?:.*::)? apply | Node::operator\(\) | Engine::evaluate_function )
        (?:\[abi:\w+\])? (?:\(.*)? (?:\ const)? $""",
    re.VERBOSE,
)
# The method of a node of any class, of the user's own too.
_APPLIES = re.compile(r"(?:.*::)?apply(?:\[abi:\w+\])?(?:\(.*)?$")
# Its class, of a node of torch's.
_OF_CLASS = re.compile(r"(torch::autograd::.*)::apply(?:\[abi:\w+\])?(?:\(.*)?(?:\ const)?$")
_variables: dict[tuple[str, int, int], ThreadLocal] = {}


def frame_runs_node(function: str) -> bool:
    """Whether a native function of this name runs an autograd node."""
    return bool(_RUNS_NODE.match(function))


def current_node(thread: gdb.InferiorThread, function: str = "") -> AutogradNode | None:
    """The node that a thread runs now; ``None`` where it runs none, or where that cannot be known.

    Nor is there one where ``function`` is the ``apply`` of another class: it runs an outer node.
    """
    memory = Memory(torch_process.read)
    try:
        variable = _variable(memory)
        place = variable and address_in_thread(memory, variable, thread_pointer(thread))
        node = memory.pointer(place) if place else 0
    except (UnreadableError, gdb.error):
        return None
    applies = _OF_CLASS.match(function)
    if node and applies and applies[1] not in classes(memory, node):
        return None
    return _as_node(memory, node)


def _as_node(memory: Memory, address: int) -> AutogradNode | None:
    if not address:
        return None
    found = read_node(memory, address, torch_process.tensor_layout())
    return found if not found.name.startswith("<unreadable") else None


def _variable(memory: Memory) -> ThreadLocal | None:
    library = torch_process.torch_library()
    if library is None:
        return None
    key = (library.path, library.bias, gdb.selected_inferior().pid)
    if key not in _variables:
        getter = library.elf.symbol(_GETTER)
        if getter is None:
            return None
        _variables[key] = variable_of_getter(memory, library.bias + getter)
    return _variables[key]


def variable_of_getter(memory: Memory, getter: int) -> ThreadLocal:
    """The thread-local variable that the code of ``get_current_node`` asks its accessor for."""
    code = memory.read(getter, _CODE)
    call = code.find(_CALL_THROUGH)
    if call < 0:
        return of_accessor(memory, getter)
    slot = getter + call + 6 + struct.unpack_from("<i", code, call + 2)[0]
    return of_accessor(memory, memory.pointer(slot))


def thread_pointer(thread: gdb.InferiorThread) -> int:
    """The address of a thread's control block: the base of its FS segment."""
    before = gdb.selected_thread()
    frame = gdb.selected_frame() if before else None
    try:
        if before is None or thread.num != before.num:
            thread.switch()
        return int(gdb.parse_and_eval("$fs_base")) & (1 << 64) - 1
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
    if frame.function() is None or not _APPLIES.match(function):
        return None
    try:
        address = int(frame.read_var("this"))
    except (ValueError, gdb.error):
        return None
    memory = Memory(torch_process.read)
    return _as_node(memory, address) if _NODE in classes(memory, address) else None
