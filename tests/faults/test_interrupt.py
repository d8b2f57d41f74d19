"""Ctrl-C at every phase: exit status 130, nothing but the program's own words, and no process left."""

import signal

import pytest
from phases import ASKING, PHASES, attached, named, running_without_gdb, standing_in_native_code

from kit.paths import PROGRAMS

pytestmark = pytest.mark.rotated_tests(turns=5)


def assert_all_ended(harness, expected=128 + signal.SIGINT):
    """The program may show where Ctrl-C hit it, as it would without us; nothing of the harness or debugpy is shown."""
    status, errors = harness.end()
    assert status == expected
    errors = errors.replace(str(PROGRAMS), "")  # the program is there, and a clone is named as we are
    assert "pyharness" not in errors
    assert "pydevd" not in errors
    assert not harness.family()


@pytest.mark.rotated
@pytest.mark.parametrize("phase", [phase for phase in PHASES if phase not in ASKING], ids=named)
def test_ctrl_c(pyharness, tmp_path, phase):
    assert_all_ended(phase(pyharness, tmp_path).interrupt())


@pytest.mark.parametrize("phase", ASKING, ids=named)
def test_ctrl_c_ends_an_expression_and_nothing_else(pyharness, tmp_path, phase):
    assert_all_ended(phase(pyharness, tmp_path).interrupt(), expected=7)


def test_ctrl_c_again_and_again(pyharness, tmp_path):
    harness = attached(pyharness, tmp_path)
    while harness.runs:
        harness.interrupt()
    assert_all_ended(harness)


@pytest.mark.rotated
@pytest.mark.parametrize("phase", [attached, standing_in_native_code, running_without_gdb], ids=named)
def test_a_polite_request_to_end(pyharness, tmp_path, phase):
    harness = phase(pyharness, tmp_path)
    harness.signal_alone(signal.SIGTERM)
    assert_all_ended(harness, 128 + signal.SIGTERM)
