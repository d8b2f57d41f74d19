"""Whatever a session is doing, no socket of it lets in another user, or one of this user that proves nothing."""

import pytest
from phases import PHASES, named
from processes import marked_with

from kit.strangers import assert_let_nobody_in


@pytest.mark.rotated
@pytest.mark.parametrize("phase", PHASES, ids=named)
def test_a_step_session_lets_nobody_in(pyharness, tmp_path, phase):
    harness = phase(pyharness, tmp_path)
    pids = [process.pid for process in marked_with(pyharness.environment["PYHARNESS_HOME"])]
    assert len(pids) > 1
    assert_let_nobody_in(pids)
    assert harness.runs
