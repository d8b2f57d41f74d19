"""``pyharness run --overwritten``: who wrote into what autograd saved; the library is one of C functions."""

import json
import re
import signal

import pytest

import pyharness
from kit.builds import library
from kit.command import Command, environment_of
from kit.marks import line_of
from kit.paths import PROGRAMS

PROGRAM, SOURCE = PROGRAMS / "overwrites.py", PROGRAMS / "overwriting.cpp"
UNSEEN = "torch does not see it"
WATCHED = "a tensor that autograd saved, which --overwritten watches"
TAKES = "takes a tensor that was overwritten after it was saved."

pytestmark = pytest.mark.rotated_tests(turns=4)


@pytest.fixture
def run(tmp_path):
    command = Command(environment_of(tmp_path), tmp_path)

    def finish(*cases):
        return command("run", "--overwritten", PROGRAM, library(SOURCE), *cases)

    return finish


def at(mark, file=PROGRAM):
    return f"{file.name}:{line_of(mark, file)}"


def parts(report):
    """The report's titles and texts; of one title the first."""
    found = {}
    for line in report.splitlines():
        if line.startswith("  ") and line[2] != " ":
            title, _, text = line[2:].partition("  ")
            found.setdefault(title, text.strip())
    return found


@pytest.mark.always
def test_a_write_through_a_pointer_is_told_with_its_line_in_cxx(run):
    done = run("native")
    assert done.stdout == "native\n"
    assert done.returncode == 1
    assert f"MulBackward0 {TAKES}" in done.stderr
    found = parts(done.stderr)
    assert at("saved") in found["saved"]
    assert "z = y * y" in found["saved"]
    assert f"{at('twice', SOURCE)} in twice" in found["written"]
    assert at("call") in found["called at"]
    assert found["element"] == "[0] was 3.0, now 6.0"
    assert found["verdict"].startswith(UNSEEN)
    assert "(MainThread)" in found["thread"]
    assert done.stderr.count(TAKES) == 1


def test_what_happens_again_is_counted(run):
    done = run(*["native"] * 3, "counted")
    assert done.stdout == "native\n" * 3
    assert done.stderr.count(TAKES) == 2
    assert "saved tensors were overwritten 4 times, at the 2 places above." in done.stderr


OTHERS = {
    "counted": ("SinBackward0", "counted", "by aten::add_.Tensor"),
    "through_data": ("SinBackward0", "data", "by aten::mul_.Tensor"),
    "through_numpy": ("ExpBackward0", "numpy", "[3000] was 20.09, now 5.0"),
    "by_the_system": ("SinBackward0", "read", "[1] was 3.0, now 0.0"),
    "by_a_socket": ("SinBackward0", "received", "[0] was 3.0, now 0.0"),
}


@pytest.mark.parametrize("case", OTHERS)
def test_a_write_of_pythons_is_told_with_its_line_and_its_op(run, case):
    node, mark, more = OTHERS[case]
    done = run(case)
    assert done.returncode == 1
    assert f"{node} {TAKES}" in done.stderr
    assert at(mark) in parts(done.stderr)["written"]
    assert more in done.stderr
    torch_says = "has been modified by an inplace operation" in done.stderr
    assert torch_says == (case == "counted")
    assert (UNSEEN in done.stderr) == (not torch_says)


def test_whichever_of_torchs_threads_writes_first_the_line_is_told(run):
    found = parts(run("by_torchs_threads").stderr)
    assert at("data") in found["written"]
    assert found["element"].endswith("was 3.0, now 6.0")


TAKEN_BY = {
    "of_a_function": "SquareBackward",
    "of_a_layer": "AddmmBackward0",
    "natively_in_a_thread": "SinBackward0",
    "compiled": "CompiledFunctionBackward",
    "enables_faulthandler": "SinBackward0",
}


@pytest.mark.parametrize("case", TAKEN_BY)
def test_what_else_takes_saved_tensors(run, case):
    done = run(case)
    assert done.stdout == f"{case}\n"
    assert done.returncode == 1
    assert f"{TAKEN_BY[case]} {TAKES}" in done.stderr
    found = parts(done.stderr)
    assert f"{at('twice', SOURCE)} in twice" in found["written"]
    assert at("call") in found["called at"]
    assert ("stood at these lines of Python" in found["thread"]) == (case == "natively_in_a_thread")


def test_a_debugger_stops_at_the_write_and_the_program_goes_on(tmp_path):
    command = Command(environment_of(tmp_path), tmp_path)
    running = command.start("run", "--name", "w", "--overwritten", PROGRAM, library(SOURCE), "again_and_again")
    try:
        while TAKES not in running.stderr.readline():
            assert running.poll() is None
        done = command("debug", "w", input="c\np count\nc\nbt\np values[0]\ndetach\n", stdin=None)
        assert running.poll() is None
    finally:
        command.close()
    assert at("twice", SOURCE) in done.stdout, done.stdout + done.stderr
    assert "(ph) p count\n6" in done.stdout
    assert done.stdout.count(WATCHED) >= 2
    assert at("call") in done.stdout
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_step_begins_at_the_write_and_goes_out(tmp_path):
    command = Command(environment_of(tmp_path), tmp_path)
    actions = ["--continue", "--print", "values[i]", "--over", "--over", "--print", "values[0]", "--out", "--json"]
    done = command("step", "--overwritten", PROGRAM, *actions, "--", library(SOURCE), "native")
    stops = json.loads(done.stdout)["stops"]
    assert [stop["reason"] for stop in stops] == ["signal", "step", "step", "step"]
    assert WATCHED in done.stdout
    assert (stops[0]["line"], stops[0]["printed"]) == (line_of("twice", SOURCE), {"values[i]": "3"})
    assert stops[2]["printed"] == {"values[0]": "6"}
    assert (stops[3]["language"], stops[3]["file"]) == ("python", str(PROGRAM))
    assert f"MulBackward0 {TAKES}" in done.stderr


def test_the_api_stops_at_the_write():
    with pyharness.debug(PROGRAM, library(SOURCE), "native", overwritten=True) as program:
        stop = program.resume()
        assert (stop.reason, stop.frame.line) == ("signal", line_of("twice", SOURCE))
        assert program.evaluate("values[i]") == "3"
        assert program.finish() == 0


@pytest.mark.parametrize(
    "words", [["debug", "1"], ["debug", "--children", "x.py"], ["debug", "--ranks", "0", "--", "torchrun", "x.py"]]
)
def test_what_cannot_be_watched_from_its_start_is_refused(tmp_path, words):
    (tmp_path / "x.py").write_text("")
    done = Command(environment_of(tmp_path), tmp_path)(*words[:1], "--overwritten", *words[1:])
    assert done.returncode == 2
    assert "--overwritten" in done.stderr


def test_a_thread_is_named(run):
    assert "(trains)" in parts(run("of_a_thread").stderr)["thread"]


@pytest.mark.always
def test_nothing_is_said_of_writes_that_hurt_nobody(run):
    done = run("rightly", "training", "unusual")
    assert done.stdout == "rightly\ntraining\nunusual\n", done.stderr
    assert done.returncode == 0
    assert "no saved tensor was overwritten (" in done.stderr
    assert TAKES not in done.stderr


def test_a_forked_child_tells_its_own(run):
    done = run("in_a_child_too")
    assert done.stderr.count(TAKES) == 2
    assert "no saved tensor was overwritten" not in done.stderr


def test_a_write_that_began_beside_the_tensor_is_said_to_be_one(run):
    found = parts(run("beside").stderr)
    assert "may be the one that matters" in found["note"]
    assert "note" not in parts(run("native").stderr)


def test_what_cannot_be_watched_is_counted(run):
    done = run("of_very_many")
    assert done.returncode == 0, done.stderr
    assert re.search(r"\(\d+,\d+ were watched; \d+,\d+ more lie in memory that cannot be watched\)", done.stderr)


def test_a_crash_is_still_the_programs(run):
    done = run("enables_faulthandler", "crashes")
    assert done.returncode == -signal.SIGSEGV
    assert "Fatal Python error: Segmentation fault" in done.stderr
    assert run("crashes").returncode == -signal.SIGSEGV


def test_a_program_finds_them_itself(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        "import json, sys\nimport torch, pyharness\n"
        "found = []\n"
        "with pyharness.find_overwritten(found.append) as search:\n"
        "    y = torch.ones(4, requires_grad=True) * 1\n"
        "    z = y.sin()\n"
        "    y.data.add_(1)\n"
        "    z.sum().backward()\n"
        "    try: pyharness.find_overwritten().__enter__()\n"
        "    except pyharness.HarnessError as error: print(error, file=sys.stderr)\n"
        "print(json.dumps([each.to_json() for each in found]))\n"
        "print(found[0].headline, search.saves, file=sys.stderr)\n"
    )
    command = Command(environment_of(tmp_path), tmp_path)
    done = command("run", program)
    (found,) = json.loads(done.stdout)
    assert (found["node"], found["counted"], found["element"]) == ("SinBackward0", False, [0])
    assert (found["was"], found["now"], found["op"]) == (1.0, 2.0, "aten::add_.Tensor")
    assert found["saved"][0]["line"] == 6
    assert f"a tensor that SinBackward0 takes, saved at {program}:6, was overwritten (" in done.stderr
    assert "looks at saved tensors already" in done.stderr


def test_a_report_of_torchs_error_names_the_search(tmp_path):
    command = Command(environment_of(tmp_path), tmp_path)
    done = command("run", "--report", tmp_path / "out", PROGRAM, library(SOURCE), "counted")
    assert "modified by an inplace operation" in done.stderr
    assert "`pyharness run --overwritten` names the line that wrote" in done.stderr


def test_two_searches_are_refused(tmp_path):
    command = Command(environment_of(tmp_path), tmp_path)
    done = command("run", "--overwritten", "--nan", PROGRAM)
    assert (done.returncode, "two searches" in done.stderr) == (2, True)
