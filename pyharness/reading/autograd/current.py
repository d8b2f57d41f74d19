"""The autograd node that a native thread runs, from memory alone, and the names of the frames that run one.

The engine keeps it in a thread-local variable that ``torch::autograd::get_current_node`` reads. That function is
exported by every libtorch_cpu; its code says where the variable is, so nothing of torch's symbols is needed.
"""

from __future__ import annotations

import re
import struct
from typing import TYPE_CHECKING

from pyharness.model.frozen import frozen
from pyharness.reading.autograd.graph import read_node
from pyharness.reading.functions.cxx_class import classes
from pyharness.reading.process.memory import UnreadableError
from pyharness.reading.process.thread_local import ThreadLocal, address_in_thread, of_accessor

if TYPE_CHECKING:
    from pyharness.model.frames import AutogradNode
    from pyharness.reading.process.memory import Memory
    from pyharness.reading.tensors.layout import TensorLayout

GETTER = "_ZN5torch8autograd16get_current_nodeEv"
NODE = "torch::autograd::Node"
_CALL_THROUGH = b"\xff\x15"  # call *disp32(%rip): through the accessor that c10::ThreadLocal holds
_CODE = 64
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


def frame_runs_node(function: str) -> bool:
    """Whether a native function of this name runs an autograd node."""
    return bool(_RUNS_NODE.match(function))


def frame_applies(function: str) -> bool:
    """Whether a native function of this name may be the method of a node that is its ``this``."""
    return bool(_APPLIES.match(function))


@frozen
class RunningNode:
    """The node that a thread runs, with its classes from its own to its oldest base."""

    node: AutogradNode
    classes: tuple[str, ...]

    def run_by(self, function: str) -> AutogradNode | None:
        """The node, where a function that runs one runs this; not where it is another class's: it runs an outer one."""
        applies = _OF_CLASS.match(function)
        return None if applies and applies[1] not in self.classes else self.node


def running_node(
    memory: Memory, variable: ThreadLocal, thread_pointer: int, layout: TensorLayout
) -> RunningNode | None:
    """What the thread with this control block runs; ``None`` where it runs none, or where that cannot be known."""
    try:
        place = address_in_thread(memory, variable, thread_pointer)
        node = memory.pointer(place) if place else 0
    except UnreadableError:
        return None
    found = node_at(memory, node, layout)
    return RunningNode(found, tuple(classes(memory, node))) if found else None


def node_at(memory: Memory, address: int, layout: TensorLayout) -> AutogradNode | None:
    """The node at an address, ``None`` where there is none."""
    if not address:
        return None
    found = read_node(memory, address, layout)
    return found if not found.name.startswith("<unreadable") else None


def variable_of_getter(memory: Memory, getter: int) -> ThreadLocal:
    """The thread-local variable that the code of ``get_current_node`` asks its accessor for."""
    code = memory.read(getter, _CODE)
    call = code.find(_CALL_THROUGH)
    if call < 0:
        return of_accessor(memory, getter)
    slot = getter + call + 6 + struct.unpack_from("<i", code, call + 2)[0]
    return of_accessor(memory, memory.pointer(slot))
