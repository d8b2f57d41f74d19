"""Handlers of the commands that ask: for the value of a C++ expression, and for what the program's agent says."""

from __future__ import annotations

import gdb

from pyharness.ingdb import torch_process
from pyharness.ingdb.calls import agent, call_gate, ending, expressions, guarded_call
from pyharness.ingdb.functions import trap_line
from pyharness.ingdb.functions.known_functions import innermost
from pyharness.ingdb.mi.commands import handles, select
from pyharness.ingdb.printers import known
from pyharness.ingdb.printers import values as tensor_values
from pyharness.ingdb.stack import backtrace
from pyharness.ingdb.tensors.format import one_line
from pyharness.ingdb.variables.native_expression import text_of
from pyharness.protocol import mi


@handles(mi.Evaluate)
def _evaluate(request: mi.Evaluate) -> str:
    select(request.thread)
    _frame_at(request.level).select()
    if address := trap_line.tensor_address(request.expression):
        return one_line(torch_process.read, tensor_values.tensor_at(address))
    known.register()
    with ending.possible():
        try:
            return text_of(request.expression, gdb.selected_frame())
        except gdb.error as error:
            raise gdb.GdbError(expressions.said(error, request.expression)) from error


def _frame_at(level: int) -> gdb.Frame:
    frame = innermost()[0]
    for above in range(level):
        older = frame.older()
        if older is None:
            raise gdb.GdbError(f"{mi.NO_FRAME}{level}: the outermost one is {above}.")
        frame = older
    return frame


@handles(mi.AskAgent)
def _ask_agent(request: mi.AskAgent) -> mi.AgentReply:
    thread = select(request.thread)
    if backtrace.in_subinterpreter(thread):  # it has no agent, and the main one's GIL may be the thread's own
        return mi.AgentReply(is_elsewhere=True)
    holder = call_gate.stopped_gil_holder(thread)
    blocked = 0 if holder else call_gate.blocked_gil_holder(thread)
    if holder or call_gate.a_stop_is_coming():
        return mi.AgentReply(later=True, holder=holder)
    if blocked:
        return mi.AgentReply(later=True, holder=blocked, is_blocked=True)
    try:
        return mi.AgentReply(agent.call_with(request.request))
    except guarded_call.GivenUpError:
        return mi.AgentReply(later=True, runs=True)
    except agent.AgentGoneError:
        return mi.AgentReply(is_gone=True)


@handles(mi.EndCall)
def _end_call(request: mi.EndCall) -> mi.AgentReply:
    thread = select(request.thread)
    if not guarded_call.is_given_up():
        return mi.AgentReply()
    if guarded_call.is_under_way():
        return mi.AgentReply(later=True, runs=True, holder=call_gate.stopped_gil_holder(thread))
    return mi.AgentReply(agent.end_call())
