"""The harness itself is killed: its debuggers end, and the program is not left stopped."""

import pytest
from phases import PHASES, asking_in_native_code, named, starting
from processes import wait_until_it_runs


@pytest.mark.rotated
@pytest.mark.parametrize("phase", PHASES, ids=named)
def test_the_program_runs_on(pyharness, tmp_path, phase):
    harness = phase(pyharness, tmp_path)
    family = harness.family()
    harness.kill()
    harness.release()
    if phase is asking_in_native_code:
        harness.hang_up()
    if "gdb" in family:
        family["gdb"].wait_for_end()
    wait_until_it_runs(family["program"])
    if phase is not asking_in_native_code:
        harness.hang_up()
    for process in family.values():
        process.wait_for_end()
    harness.end()
    if phase is not starting:  # a program whose harness died before its first line has no reason to begin
        assert harness.said.splitlines()[-1] in {"total 64", "3"}
