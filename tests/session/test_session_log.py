"""Log points of the command line and of session files."""

import json

import pytest

from kit.paths import PROGRAMS

pytestmark = pytest.mark.rotated_tests(turns=6)


WORDS = str(PROGRAMS / "session_words.py")
FILE = """[program]
script = "{WORDS}"
args = ["5"]

[[log]]
at = "py:session_words.py:11 hits >= 2"
message = "{word!r} of {total:03}"

[[step]]
at = "py:session_words.py:11 hits 3"
"""


def test_step_prints_what_a_log_point_says_to_the_programs_end(pyharness):
    done = pyharness("step", WORDS, "--log", "py:session_words.py:11", "word={word!r}", "--", "5")
    assert done.stdout.count("py:session_words.py:11  word='") == 3, done.stdout + done.stderr
    assert done.returncode == 5


def test_a_session_file_logs_too(session, pyharness):
    done = pyharness("session", "run", session(FILE), "--json")
    data = json.loads(done.stdout)
    assert [stop["line"] for stop in data["stops"]] == [11]
    assert {each["place"] for each in data["logged"]} == {f"py:{WORDS}:11"}
    assert all(each["text"].count(" of 0") for each in data["logged"])


def test_what_is_wrong_with_a_log_point_is_said_before_the_program_starts(session, pyharness):
    for option, said in (("{word +}", "is not a Python expression"), ("{word", "a brace that is not closed")):
        done = pyharness("step", WORDS, "--log", "py:session_words.py:11", option)
        assert (done.returncode, done.stdout) == (2, "")
        assert said in done.stderr
    done = pyharness("session", "check", session(FILE.replace("{word!r}", "{word!}")))
    assert done.returncode == 2
    assert "it.toml:7: " in done.stderr


def test_a_log_point_that_nothing_has_is_an_error_one_that_was_not_reached_a_note(pyharness):
    done = pyharness("step", WORDS, "--log", "op:aten::addd", "x", "--", "5")
    assert done.returncode in {1, 5}
    done = pyharness("step", WORDS, "--log", "py:session_words.py:11 if word == 'never'", "x", "--", "5")
    assert done.returncode == 5
    assert "was not seen to run" in done.stderr


def test_no_line_is_lost_where_the_program_is_faster_than_its_reader(pyharness, tmp_path):
    program = tmp_path / "often.py"
    program.write_text("def often(i):\n    return i\n\nfor i in range(20000):\n    often(i)\n")
    done = pyharness("step", program, "--log", "py:often.py:2", "{i}")
    said = [line.split()[-1] for line in done.stdout.splitlines() if line.startswith("py:")]
    assert said == [str(i) for i in range(20000)]


BACKWARD = """import torch

class Own(torch.autograd.Function):
    pass

x = torch.ones(2, requires_grad=True)
(x * 2).sum().backward()
"""


@pytest.mark.rotated
@pytest.mark.parametrize(
    "end", ["os._exit(3)", "os.abort()", "os.kill(os.getpid(), 9)", "os.execv('/bin/true', ['true'])"]
)
def test_the_lines_before_a_death_are_there(pyharness, tmp_path, end):
    program = tmp_path / "dies.py"
    program.write_text(f"import os\nfor i in range(300):\n    j = i\n{end}\n")
    done = pyharness("step", program, "--log", "py:dies.py:3", "i={i}")
    assert [line.rpartition("=")[2] for line in done.stdout.splitlines() if " i=" in line] == list(map(str, range(300)))


def test_a_name_that_no_op_and_no_node_has_is_an_error_for_both(pyharness, tmp_path):
    program = tmp_path / "backward.py"
    program.write_text(BACKWARD)
    for place, said in (
        ("op:aten::nosuch*", "No op matches 'aten::nosuch*'."),
        ("node:Nosuch*", "No node 'Nosuch*' ran, and torch knows none of that name."),
        ("node:MullBackward0", "Did you mean MulBackward0"),
    ):
        done = pyharness("step", program, "--log", place, "x")
        assert (done.returncode, said in done.stderr) == (1, True), done.stderr
    others = (
        "op:aten::cos*",
        "node:CosBackward0",
        "node:OwnBackward",
        "node:Nosuch* hits 2",
        "node:Nosuch when dim(out0) > 3",
    )
    logs = [word for place in others for word in ("--log", place, "x")]
    done = pyharness("step", program, *logs)
    assert (done.returncode, done.stderr.count("ended without reaching")) == (0, len(others)), done.stderr
