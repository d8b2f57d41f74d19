"""An adapter that is told to debug itself or its client: it refuses, because a stop would hold what is to end it."""

import os

from kit.paths import PROGRAMS


def test_the_adapter_and_its_client_are_refused(dap):
    client = dap.stdio()
    client.request("initialize", adapterID="pyharness")
    assert "is the debugger itself" in client.refused("attach", processId=dap.processes[0].pid)
    assert "is an ancestor of this debugger" in client.refused("attach", processId=os.getpid())
    client.request("launch", program=str(PROGRAMS / "plain_lines.py"))  # it serves on
    client.hang_up()
    assert not dap.wait_gone()
