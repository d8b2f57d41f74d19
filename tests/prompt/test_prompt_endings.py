"""What the prompt says and returns when the program has ended: its status, and the stops that never came."""

import pytest

pytestmark = pytest.mark.rotated_tests(turns=2)


def test_the_status_is_of_the_last_run(piped, tmp_path):
    program = tmp_path / "ends.py"
    program.write_text("import os\nos._exit(4)\n")
    assert piped(["c"], program=program).returncode == 4
    assert piped(["c", "b py:ends.py:2", "r", "kill"], program=program).returncode == 0


def test_a_name_of_no_exception_is_told_at_the_end(piped):
    done = piped(["catch raise Nope", "catch throw", "c"])
    assert "`catch raise Nope` stopped nowhere: no exception of that name was raised.\n" in done.stderr
    assert "catch throw" not in done.stderr


def test_a_place_that_the_program_never_comes_to_is_said(piped, line):
    done = piped([f"b py:prompted.py:{line['fails']}", "c"])
    assert "was not seen to run" in done.stderr.replace("\n", " ")


def test_a_command_that_fails_after_the_programs_end_is_no_wrong_command_line(piped):
    done = piped(["c", "bt"])
    assert done.returncode == 1
    assert "No program is being debugged." in done.stderr
