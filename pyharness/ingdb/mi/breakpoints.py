"""The command that sets a breakpoint of the user's."""

from __future__ import annotations

from pyharness.ingdb.functions import native_names
from pyharness.ingdb.mi import library_loads
from pyharness.ingdb.mi.commands import handles
from pyharness.ingdb.mi.merged_frame import Place
from pyharness.ingdb.stops.one_call import OneCall
from pyharness.ingdb.stops.stop_at_functions import is_set, set_breakpoint
from pyharness.ingdb.variables.of_torch.calls_of_node import CallsOfNode
from pyharness.protocol import mi


@handles(mi.Break)
def _break(request: mi.Break) -> mi.Bound:
    if request.node:
        return set_breakpoint(request, CallsOfNode(request.node))
    one_call = OneCall(Place(request.thread, request.level).native) if request.thread else None
    bound = set_breakpoint(request, one_call)
    if request.number:
        waits = not request.own and not is_set(request.number)
        library_loads.wait(request.number, request.function if waits else "")
    return bound


@handles(mi.FindFunction)
def _find_function(request: mi.FindFunction) -> tuple[mi.FoundFunctions, ...]:
    return native_names.libraries_with(request.function)
