"""``pyharness step`` on a real program, its Python half."""

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest
from words_program import WORDS, at, marked

pytestmark = pytest.mark.rotated_tests(turns=5)


def stops_of(result):
    return json.loads(result.stdout)["stops"]


@pytest.mark.parametrize("option", [("--print",), ("--at",), ("--log", "py:a.py:1")])
def test_an_option_whose_value_was_forgotten_before_the_programs_words(pyharness, option):
    result = pyharness("step", WORDS, *option, "--", "4")
    assert (result.returncode, result.stdout) == (2, "")
    assert "a value is missing.\n`--` ends the options" in result.stderr


def test_actions_are_done_in_the_order_typed(pyharness):
    result = pyharness(
        *("step", WORDS, "--json", "--at", at("add"), "--print", "word", "--over", "--over", "--print", "word"),
        *("--print", "total", "--out", "--at", at("end"), "--into", "--stack", "--", "4"),
    )
    data = json.loads(result.stdout)
    assert [(stop["reason"], stop["function"]) for stop in data["stops"]] == [
        ("breakpoint", "count"),
        ("step", "count"),
        ("step", "count"),
        ("step", "<module>"),
        ("breakpoint", "<module>"),
        ("step", "end"),
    ]
    assert data["stops"][0]["printed"] == {"word": "'to'"}
    assert data["stops"][2]["printed"] == {"word": "'be'", "total": "2"}
    shown = [frame["function"] for frame in data["stops"][-1]["stack"] if not frame["plumbing"]]
    assert shown == ["end", "<module>"]
    assert data["exit_code"] == result.returncode == 4
    assert result.stderr == "letters: 6\n"


def test_the_json_object_has_the_keys_that_others_rely_on(pyharness):
    (stop,) = stops_of(pyharness("step", WORDS, "--at", at("add"), "--stack", "--json"))
    assert {"reason", "language", "file", "line", "function", "fx", "printed", "stack"} <= set(stop)
    assert (stop["language"], stop["file"], stop["line"], stop["fx"]) == ("python", WORDS, marked("add"), None)
    assert {"language", "function", "file", "line", "fx"} <= set(stop["stack"][0])


def test_people_get_a_transcript_with_source_values_and_the_programs_own_output(pyharness):
    result = pyharness("step", WORDS, "--at", at("add"), "--print", "total", "--print", "nowhere", "--stack")
    assert result.returncode == 0, result.stderr
    assert "1  breakpoint · python · count" in result.stdout
    assert f"→ {marked('add')} │         total += len(word)  # @add" in result.stdout
    assert "total = 0" in result.stdout
    assert "nowhere = <error: NameError: name 'nowhere' is not defined>" in result.stdout
    assert result.stdout.endswith("letters: 6\nthe program ended with exit code 0\n")
    assert "\x1b" not in result.stdout


def test_a_place_may_have_a_condition(pyharness):
    (stop,) = stops_of(pyharness("step", WORDS, "--at", f"{at('add')} if word == 'or'", "--print", "word", "--json"))
    assert stop["printed"] == {"word": "'or'"}


def test_none_is_shown(pyharness):
    (stop,) = stops_of(pyharness("step", WORDS, "--at", at("end"), "--print", "nothing", "--json"))
    assert stop["printed"] == {"nothing": "None"}


def test_without_actions_the_program_just_runs(pyharness):
    result = pyharness("step", WORDS, "--json", "--", "7")
    assert json.loads(result.stdout) == {"stops": [], "exit_code": 7}
    assert result.returncode == 7


def test_a_program_that_crashes_gives_the_shells_status(pyharness):
    result = pyharness("step", WORDS, "--at", at("add"), "--json", "--", "abort")
    assert json.loads(result.stdout)["exit_code"] == -signal.SIGABRT
    assert result.returncode == 128 + signal.SIGABRT


def test_actions_after_the_end_are_said_not_to_be_done(pyharness):
    result = pyharness("step", WORDS, "--at", at("end"), "--continue", "--over", "--json", "--", "3")
    assert result.returncode == 1
    assert json.loads(result.stdout)["error"]["message"] == "--over was not done: the program ended with exit code 3."
    assert "Traceback" not in result.stderr


def test_the_program_can_be_ended_instead_of_run_on(pyharness):
    result = pyharness("step", WORDS, "--at", at("call"), "--kill", "--json", "--", "3")
    assert json.loads(result.stdout)["exit_code"] is None
    assert result.returncode == 0
    assert result.stderr == ""


def test_a_module_and_a_working_folder(pyharness, tmp_path):
    package = tmp_path / "pack"
    package.mkdir()
    (package / "__main__.py").write_text("import os\nwhere = os.getcwd()\nprint(where)\n")
    place = f"py:{package / '__main__.py'}:3"
    result = pyharness("step", "-m", "pack", "--cwd", tmp_path, "--at", place, "--print", "where", "--json")
    assert stops_of(result)[0]["printed"] == {"where": repr(str(tmp_path))}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--at", "foo"], "Write fx:foo or native:foo"),
        (["--at", "foo:"], "'foo:' is not a place"),
        (["--at", "py:session_wrods.py:3"], "session_words.py"),
        (["--at", f"py:{WORDS}:4000"], "after the last line"),
        (["--print", "x"], "--print comes before the first stop"),
        (["--lr", "3"], "-- --lr"),
        (["--ovre"], "Did you mean --over"),
    ],
)
def test_what_cannot_be_meant_exits_2_with_one_message(pyharness, words, message):
    result = pyharness("step", WORDS, *words)
    assert result.returncode == 2, result.stderr
    assert message in result.stderr
    assert "Traceback" not in result.stderr


def test_an_error_in_json_is_in_the_object(pyharness):
    result = pyharness("step", "no_such.py", "--at", "fx:x", "--json")
    data = json.loads(result.stdout)
    assert (data["stops"], data["exit_code"]) == ([], None)
    assert "no_such.py" in data["error"]["message"]
    assert result.returncode == 2


def test_python_steps_need_no_gdb(pyharness, environment):
    environment["PYHARNESS_GDB"] = "/no/such/gdb"
    result = pyharness("step", WORDS, "--at", at("add"), "--over", "--json")
    assert len(stops_of(result)) == 2
    assert result.returncode == 0


def test_into_needs_no_gdb_where_no_native_code_is_loaded(pyharness, environment):
    environment["PYHARNESS_GDB"] = "/no/such/gdb"
    result = pyharness("step", WORDS, "--at", at("call"), "--into", "--over", "--json", "--", "4")
    data = json.loads(result.stdout)
    assert [stop["reason"] for stop in data["stops"]] == ["breakpoint", "step", "step"]
    assert data["exit_code"] == result.returncode == 4


def children_of(process):
    """Its program, debuggers and their children: every process of its session."""
    listed = subprocess.run(
        ["ps", "-o", "pid=", "--ppid", str(process.pid)], capture_output=True, text=True, check=False
    )
    return [int(word) for word in listed.stdout.split()]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_ends_the_program_and_the_debuggers(started, number):
    process = started("step", WORDS, "--at", at("waiting"), "--continue", "--", "wait")
    while process.stdout.readline() != "waiting\n":
        assert process.poll() is None, process.stderr.read()
    children = children_of(process)
    assert children
    os.kill(process.pid, number)
    _, errors = process.communicate(timeout=20)
    assert process.returncode == 128 + number
    assert "Traceback" not in errors
    assert not [child for child in children if Path(f"/proc/{child}").exists()]


def test_an_interrupt_after_the_last_action_ends_the_program_too(started):
    process = started("step", WORDS, "--at", at("call"), "--", "wait")
    while process.stdout.readline() != "waiting\n":
        assert process.poll() is None, process.stderr.read()
    children = children_of(process)
    os.kill(process.pid, signal.SIGINT)
    process.communicate(timeout=20)
    assert process.returncode == 130
    assert not [child for child in children if Path(f"/proc/{child}").exists()]


@pytest.mark.parametrize(
    ("place", "function", "x"), [("f", "f", "1"), ("f if x == 5", "f", "5"), ("f hits 2", "f", "5"), ("K.m", "m", "0")]
)
def test_a_function_of_one_line_stops_where_it_runs_and_not_where_it_is_defined(
    pyharness, tmp_path, place, function, x
):
    script = tmp_path / "one.py"
    script.write_text("def f(x): return x + 1\nclass K:\n    def m(self, x=0): return 2\nf(1), K().m(), f(5)\n")
    (stop,) = json.loads(pyharness("step", script, "--at", f"py:one.py:{place}", "--print", "x", "--json").stdout)[
        "stops"
    ]
    assert (stop["function"], stop["printed"]["x"]) == (function, x)


CELL = """import linecache
text, name = "def cell(x):\\n    y = x + 1\\n    return y\\n", "/nowhere/ipykernel_77/12.py"
linecache.cache[name] = (len(text), None, text.splitlines(True), name)
exec(compile(text, name, "exec"))
cell(3)
"""


def test_the_source_of_a_notebooks_cell_is_asked_of_the_program(pyharness, tmp_path):
    (tmp_path / "cells.py").write_text(CELL)
    done = pyharness("step", tmp_path / "cells.py", "--at", "py:cells.py:5", "--into", "--stack")
    stop = done.stdout.partition("2  step · python · cell")[2]
    assert "→ 2 │     y = x + 1\n     3 │     return y" in stop, done.stdout + done.stderr
    assert "12.py:2  y = x + 1" in stop.partition("stack")[2]
