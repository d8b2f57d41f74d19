"""Ops of a program that runs already: one that runs on while a client sets its breakpoint stops there."""

import time

from debugging import Debugging

from kit.running_program import Running

SCRIPT = "attach_ops.py"


def test_an_op_that_is_met_before_the_client_has_done_its_configuration(dap):
    """Its thread asks while the program waits to be told to start: each gets its own answer."""
    trainer = Running(SCRIPT, handle="trainer")
    try:
        program = Debugging(dap.stdio(), SCRIPT)
        program.initialize()
        attached = program.client.post("attach", handle="trainer")
        program.client.event("initialized")
        program.client.request("setFunctionBreakpoints", breakpoints=[{"name": "op:aten::mul"}])
        time.sleep(0.5)  # the loop comes by every few milliseconds
        program.client.request("configurationDone")
        assert program.client.response(attached)["success"]
        assert program.stood().function == "aten::mul"
        program.client.request("disconnect", terminateDebuggee=False)
        trainer.ends_free()
    finally:
        trainer.kill()
