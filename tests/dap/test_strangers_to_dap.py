"""The adapter, its program and its program's children let in nobody but the client; a port asks for its token."""

import pytest
from debugging import Debugging
from test_child_sessions import child_of, launched

from kit.strangers import assert_let_nobody_in

pytestmark = pytest.mark.rotated_tests(turns=2)


def test_on_standard_streams_no_port_is_open(dap):
    program = Debugging(dap.stdio(), "core_crossing.py").launch("held", native=("held",), subProcess="debug")
    at_line = program.stood()
    assert_let_nobody_in(dap.family())
    program.run_on(at_line)
    assert {family for family, _ in assert_let_nobody_in(dap.family())} == {"unix"}


def test_a_port_asks_for_the_token_with_children_too(dap):
    client = dap.tcp()
    assert_let_nobody_in(dap.family(), [dap.port])
    parent, asked = launched(client, "dap_children.py", "spawn", subProcess="debug", token=dap.token)
    parent.configure(native=("held",))
    parent.stood()
    child = child_of(asked, dap.connect(), "dap_children.py", "work", native=("scaled",))
    child.stood()
    assert_let_nobody_in(dap.family(), [dap.port])
