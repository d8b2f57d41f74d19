"""A client that leaves at any state of its session: what was launched ends, and no process is left."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import states

from kit.paths import TESTS, search_path

pytestmark = pytest.mark.rotated_tests(turns=3)


LONELY = Path(__file__).with_name("lonely.py")

at_any_state = pytest.mark.parametrize("state", states.STATES, ids=lambda state: state.__name__)


@pytest.mark.rotated
@at_any_state
def test_a_client_that_hangs_up(dap, tmp_path, state):
    client = dap.stdio(**states.environment_of(state, tmp_path))
    state(client, tmp_path)
    client.hang_up()
    states.let_go(tmp_path)
    assert not dap.wait_gone()


@pytest.mark.rotated
@at_any_state
def test_a_client_that_is_killed(dap, tmp_path, state):
    command = [sys.executable, str(LONELY), state.__name__, dap.mark, str(tmp_path), "tcp"]
    environment = {**os.environ, "PYTHONPATH": search_path(TESTS, os.environ["PYTHONPATH"])}
    with subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as client:
        assert client.stdout.readline() == "there\n"
        assert dap.family()
        client.kill()
    states.let_go(tmp_path)
    assert not dap.wait_gone()


@pytest.mark.rotated
@at_any_state
def test_a_client_that_disconnects(dap, tmp_path, state):
    client = dap.stdio(**states.environment_of(state, tmp_path))
    state(client, tmp_path)
    leaving = client.post("disconnect")
    states.let_go(tmp_path)
    assert client.response(leaving)["success"]
    client.wait_end()
    assert not dap.wait_gone()
