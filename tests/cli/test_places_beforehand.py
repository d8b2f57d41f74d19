"""Places that cannot be meant are told before the program runs: status 2. What only it could tell has status 1."""

import json
import sys

import pytest

from kit.marks import line_of
from kit.paths import PROGRAMS, ROOT
from pyharness.model.conditions.native import check_native
from pyharness.model.errors import UsageError
from pyharness.model.where import Where, parse

pytestmark = pytest.mark.rotated_tests(turns=5)


WRAPPED = (1 << 32) + 2
BEFORE = {
    "py:ran.py:9999": "after the last line of code (4)",
    "py:ran.py:0": "There is no line 0.",
    "py:ran.py:-1": "There is no line -1.",
    f"py:ran.py:{WRAPPED}": f"There is no line {WRAPPED}.",
    "py:ran.py:2 if (": "is not a Python expression",
    "py:ran.py:2 if": "no condition",
    "native:kernel.cpp:0": "There is no line 0.",
    "native:kernel.cpp:-3": "There is no line -3.",
    f"native:kernel.cpp:{WRAPPED}": f"There is no line {WRAPPED}.",
    "native:kernel.cpp:7": "kernel.cpp has 3 lines",
    "kernel.cpp:7": "kernel.cpp has 3 lines",
    "native:f if": "no condition",
    "native:f if (n > 2": "'(' is not closed",
    "native:f if n > 2)": "')' closes nothing",
    "native:f if n ==": "nothing comes behind '=='",
    "native:f if == 2": "nothing comes before '=='",
    'native:f if name == "a': "a quote is not closed",
    "native:kernel.cpp:2 if n &&": "nothing comes behind '&&'",
    "op:aten::mul when nan(": "does not parse",
    "op:aten::mul when": "no condition",
    "fx:a if 1 +": "is not a Python expression",
}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "ran.py").write_text("import pathlib\npathlib.Path('ran').touch()\nx = 1\nprint(x)\n")
    (tmp_path / "kernel.cpp").write_text("int f(int n) {\n  return n;\n}\n")
    return tmp_path


@pytest.mark.parametrize(("where", "said"), BEFORE.items(), ids=BEFORE)
def test_nothing_is_started_for_a_place_that_cannot_be_meant(pyharness, folder, where, said):
    done = pyharness("step", "ran.py", "--at", where)
    assert done.returncode == 2
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 2, "one message, one remedy"
    assert not (folder / "ran").exists()


def test_a_session_file_says_it_when_it_is_checked(pyharness, folder):
    (folder / "it.toml").write_text('[program]\nscript = "ran.py"\n\n[[step]]\nat = "native:kernel.cpp:7"\n')
    done = pyharness("session", "check", "it.toml")
    assert done.returncode == 2
    assert "kernel.cpp has 3 lines" in done.stderr


CONDITIONS = [
    "n > 2 && flag",
    "*p == 'a'",
    "s[0] == ')'",
    "f<int>(3) > 2",
    "value<int>",
    "i++",
    "-x < 3",
    "!flag",
    "&x",
]
CONDITIONS += ['$_streq(name, "a(\\"")', "*(int*)p", "p->next[n - 1].x == -1", "a::b<c::d>(e) == {1, 2}", "::n", "n"]


@pytest.mark.parametrize("condition", CONDITIONS)
def test_what_gdb_takes_is_no_error(condition):
    check_native(condition)


@pytest.mark.parametrize("line", [0, -1, 1 << 31, WRAPPED])
def test_there_is_no_such_line_in_any_place(line):
    for kind in ("py", "native"):
        with pytest.raises(UsageError, match="There is no line"):
            Where(kind, file="f", line=line)


def test_the_file_that_is_there_counts_and_another_of_its_name_does_not(folder):
    (folder / "deep").mkdir()
    (folder / "deep" / "kernel.cpp").write_text("\n" * 40)
    assert parse("native:deep/kernel.cpp:30", [folder]).line == 30
    assert parse("native:other/kernel.cpp:30", [folder]).line == 30


LATE = {
    "native:extension.cpp:9999": "extension.cpp has ",
    "native:no_such_function": "No loaded native code has native:no_such_function",
    "fx:nothing": "made no torch.fx GraphModule",
}


@pytest.mark.rotated
@pytest.mark.parametrize(("where", "said"), LATE.items(), ids=LATE)
def test_what_only_the_program_could_tell_is_a_failure(pyharness, environment, crossing, where, said):
    env = {**environment, "PYTHONPATH": f"{environment['PYTHONPATH']}:{crossing}"}
    done = pyharness("step", PROGRAMS / "native_once.py", "--at", where, env=env)
    assert (done.returncode, done.stdout.splitlines()[-1]) == (1, "the program ended with exit code 0")
    assert said in done.stderr
    if "9999" in where:
        count = len((ROOT / "tests" / "debugger" / "extension.cpp").read_bytes().splitlines())
        assert f"has {count} lines" in done.stderr
        assert "not seen to run" not in done.stderr


def test_a_line_that_only_other_processes_ran_is_said_to_be_that(pyharness):
    script = PROGRAMS / "worker_lines.py"
    line = line_of("work", script)
    for how in ("fork", "spawn", "none"):
        done = pyharness("step", script, "--at", f"py:{script}:{line}", "--json", "--", how)
        assert done.returncode == 1
        remedy = json.loads(done.stdout)["error"]["remedy"]
        elsewhere = "not seen to run in the program's own process" in remedy
        assert elsewhere is (how != "none"), remedy


LEFT = "left the debugger before its end, as by os._exit, by becoming another program"
UNSEEN = {
    "closes": (
        "import os\nos.closerange(3, 64)\nfiles = [os.dup(1) for _ in range(9)]\nwanted = 1\n",
        "or by closing the debugger's connection (os.closerange)",
    ),
    "parent exits": ("import os\nif not os.fork():\n    wanted = 1\nos._exit(0)\n", LEFT),
    "becomes": ("import os\nos.execl('/bin/true', 'true')\nwanted = 1\n", LEFT),
    "traces": (
        "import sys\nsys.settrace(lambda *_: None)\ndef f():\n    wanted = 1\nf()\n",
        "not seen to run. The program has called sys.settrace" if sys.version_info < (3, 12) else "",
    ),
    "at exit": (
        "import atexit\ndef late():\n    wanted = 1\natexit.register(late)\n",
        "not seen to run. After its last line Python called code of yours, such as a function of atexit",
    ),
    "runs not": (
        "import atexit, sys\natexit.register(sys.exc_info)\nif len(sys.argv) > 9:\n    wanted = 1\n",
        "not seen to run.\n",
    ),
}

if sys.version_info < (3, 12):  # sys.monitoring does not care
    UNSEEN["traces"] = (
        "import sys\nsys.settrace(lambda *_: None)\ndef f():\n    wanted = 1\nf()\n",
        "not seen to run. The program has called sys.settrace",
    )
    UNSEEN["traces threads"] = (
        (
            "import threading\nthreading.settrace(lambda *_: None)\ndef f():\n    wanted = 1\n"
            "thread = threading.Thread(target=f)\nthread.start()\nthread.join()\n"
        ),
        "not seen to run. The program has called sys.settrace, or that of threading",
    )


@pytest.mark.rotated
@pytest.mark.parametrize(("text", "said"), UNSEEN.values(), ids=UNSEEN)
def test_a_line_that_may_have_run_unseen_is_not_said_never_to_have_run(pyharness, tmp_path, text, said):
    script = tmp_path / "unseen.py"
    script.write_text(text)
    line = next(number for number, each in enumerate(text.splitlines(), 1) if "wanted" in each)
    done = pyharness("step", script, "--at", f"py:{script}:{line}")
    assert done.returncode == 1
    assert "That line or function was not seen to run" in done.stderr
    assert said in done.stderr


def test_a_step_behind_the_end_of_the_connection_says_why_it_was_not_done(pyharness, tmp_path):
    (tmp_path / "leaves.py").write_text("import os\nos._exit(0)\nmore = 1\n")
    done = pyharness("step", "leaves.py", "--at", "py:leaves.py:2", "--over", "--over", cwd=tmp_path)
    assert done.returncode == 1
    assert "--over was not done: the program ended with exit code 0." in done.stderr
    assert LEFT in done.stderr


def test_a_place_that_had_run_before_the_stop_before_it(pyharness, tmp_path):
    (tmp_path / "lines.py").write_text("first = 1\nsecond = 2\n")
    done = pyharness("step", "lines.py", "--at", "py:lines.py:2", "--at", "py:lines.py:1", cwd=tmp_path)
    assert done.returncode == 1
    assert "was not seen to run after the last stop.\n" in done.stderr
