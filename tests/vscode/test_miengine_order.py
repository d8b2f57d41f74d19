"""The configurations of launch.json, by the commands that the real adapter sends for them, on an extension not ours."""

import json
import os
import re
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from miengine import MIEngine, configuration, launch_json

from kit import builds
from kit.marks import line_of
from kit.paths import ROOT, search_path
from pyharness.gdbmi.client import GdbError

pytestmark = pytest.mark.rotated_tests(turns=6)


SOURCE = builds.CROSSING
PROGRAM = ROOT / "tests/programs/core_crossing.py"


def marked(name, file=SOURCE):
    return f"{file}:{line_of(name, file)}"


@pytest.fixture(autouse=True)
def environment(monkeypatch, tmp_path):
    """What VS Code's processes inherit; gdb and the program share it."""
    monkeypatch.setenv("PYTHONPATH", search_path(builds.crossing()))
    monkeypatch.setenv("PYHARNESS_HOME", str(tmp_path / "state"))


@pytest.fixture
def start():
    """Start a program and go on; ended with the test at the latest."""
    running = []

    def started(*command, **extra):
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        running.append(subprocess.Popen([str(word) for word in command], **pipes, **extra))
        return running[-1]

    yield started
    for process in running:
        process.kill()
        process.communicate()


def python_half(name="Python half: this file", file=PROGRAM, **variables):
    """The command line that debugpy runs for a configuration, without debugpy."""
    wanted = configuration(name, file=str(file), **variables)
    return [sys.executable, "-m", wanted["module"], *wanted["args"]]


def ends(process, status=7):
    """The program runs to its own end."""
    output, errors = process.communicate(input="\n", timeout=60)
    assert process.returncode == status, output + errors
    return output


def test_no_machine_is_named():
    for file in (ROOT / ".vscode").glob("*.json"):
        assert not re.search(r'"/|/home|/usr|/root|~/', file.read_text(encoding="utf-8")), file


def attributes(value):
    """Every name of an attribute below ``value``."""
    if isinstance(value, dict):
        yield from value
    for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from attributes(item)


def test_every_attribute_and_configuration_is_documented():
    section = (ROOT / "docs/vscode.md").read_text(encoding="utf-8").partition("## Two sessions")[2]
    used = set(attributes(launch_json()))
    assert len(used) > 25
    assert not [name for name in used if f"`{name}`" not in section]
    shown = [one["name"] for one in launch_json()["compounds"]]
    shown += [one["name"] for one in launch_json()["configurations"] if not one["presentation"].get("hidden")]
    assert not [name for name in shown if f"*{name}*" not in section]


def test_compounds_are_of_configurations_that_are_there():
    file = launch_json()
    names = {one["name"] for one in file["configurations"]}
    tasks = json.loads((ROOT / ".vscode/tasks.json").read_text(encoding="utf-8"))["tasks"]
    assert len(file["compounds"]) >= 4
    for compound in file["compounds"]:
        assert set(compound["configurations"]) <= names
        assert compound["preLaunchTask"] in {task["label"] for task in tasks}


@pytest.mark.parametrize("first", ["gdb", "program"])
def test_the_halves_meet_whichever_comes_first(start, first):
    with MIEngine(configuration("gdb half")) as engine:
        if first == "gdb":
            started = []
            late = threading.Thread(
                target=lambda: engine.gdb.wait_for("Waiting") or started.append(start(*python_half()))
            )
            late.start()
        else:
            started = [start(*python_half())]
            assert "waiting for gdb" in started[0].stderr.readline()
        engine.initialize()
        if first == "gdb":
            late.join()
        assert engine.pids == [started[0].pid]
        assert not engine.set_breakpoint(marked("held"))
        engine.resume()
        stop = engine.stop()
        assert (stop["reason"], stop["frame"]["fullname"]) == ("breakpoint-hit", str(SOURCE))
        engine.command("-break-delete 1")
        engine.carry_on()
        ends(started[0])


def test_one_call_stack_shows_both_languages(start):
    with MIEngine(configuration("gdb half")) as engine:
        start(*python_half())
        engine.initialize()
        engine.set_breakpoint(marked("scaled"))
        engine.resume()
        frames = engine.frames(engine.stop())
        shown = [(one["func"], one["file"], int(one["line"])) for one in frames[:4]]
        expected = [("crossing::scaled", "scaled"), ("crossing::held", "held"), ("main", "held"), ("<module>", "main")]
        assert [name for name, _, _ in shown] == [name for name, _ in expected]
        assert [f"{file}:{line}" for _, file, line in shown] == [
            marked(mark, SOURCE if "crossing" in name else PROGRAM) for name, mark in expected
        ]
        assert not [one for one in frames if one["func"] == "??"]


def test_the_end_of_the_session_lets_the_program_run_on(start):
    with MIEngine(configuration("gdb half")) as engine:
        program = start(*python_half())
        engine.initialize()
        engine.set_breakpoint(marked("held"))
        engine.resume()
        engine.stop()
        engine.terminate()
    ends(program)


def test_a_session_that_ends_while_the_program_runs_lets_it_run_on(start):
    with MIEngine(configuration("gdb half")) as engine:
        program = start(*python_half())
        engine.initialize()
        engine.resume()
        assert program.stdout.readline()  # it waits for its input now
        engine.terminate()
    ends(program)


def test_gdb_stops_waiting_when_vscode_goes(start):
    del start
    engine = MIEngine(configuration("gdb half"))
    going = threading.Thread(target=lambda: engine.gdb.wait_for("Waiting") or engine.gdb._process.stdin.close())
    going.start()
    with engine, pytest.raises(GdbError, match="has gone"):
        engine.initialize()
    going.join()


def test_a_program_that_nobody_meets_says_so(start):
    command = python_half()
    command[3:3] = ["--within", "0.01"]
    program = start(*command)
    assert "No gdb came within 0.01 s" in program.communicate(timeout=60)[1]
    assert program.returncode == 1


def test_a_refused_attach_is_told_in_both_halves(start):
    tracer = start("gdb", "-nx", "-q", "--interpreter=mi3")
    program = start(*python_half())
    assert "waiting for gdb" in program.stderr.readline()
    tracer.stdin.write(f"1-target-attach {program.pid}\n2-exec-continue\n")
    tracer.stdin.flush()
    while not tracer.stdout.readline().startswith("*running"):
        pass
    with MIEngine(configuration("gdb half")) as engine, pytest.raises(GdbError, match="being debugged already"):
        engine.initialize()
    assert "gdb did not attach" in program.communicate(timeout=60)[1]
    assert program.returncode == 1


def test_attach_to_a_running_program_by_name(start, tmp_path):
    copy = shutil.copy(PROGRAM, tmp_path / f"{tmp_path.parent.name}_named.py")  # other tests run the program, too
    program = start(sys.executable, copy)
    assert program.stdout.readline()
    with MIEngine(configuration("gdb: attach to a running program", program=copy.name)) as engine:
        engine.initialize()
        assert engine.pids == [program.pid]
        assert engine.set_breakpoint(marked("held"))
        engine.resume()
        engine.terminate()
    ends(program)


def test_attach_to_a_running_pytest(start, tmp_path):
    (tmp_path / "test_it.py").write_text(
        "import crossing, sys\ndef test_it():\n    print('ready', flush=True)\n"
        "    sys.stdin.readline()\n    assert crossing.held(1) == 3\n"
    )
    run = start(sys.executable, "-m", "pytest", "-s", "-p", "no:cacheprovider", tmp_path / "test_it.py", cwd=tmp_path)
    while "ready" not in run.stdout.readline():
        pass
    wanted = json.loads(json.dumps(configuration("gdb: attach to a running pytest")).replace("pytest", str(tmp_path)))
    with MIEngine(wanted) as engine:  # this test is run by a pytest too: the name is narrowed to the other
        engine.initialize()
        assert engine.pids == [run.pid]
        engine.set_breakpoint(marked("held"))
        engine.resume()
        run.stdin.write("\n")
        run.stdin.flush()
        assert engine.stop()["frame"]["func"] == "crossing::held"
        engine.terminate()
    ends(run, 0)


def test_attach_to_one_rank(start):
    ranks = [start(sys.executable, PROGRAM, env={**os.environ, "RANK": f"88{rank}"}) for rank in range(2)]
    for rank in ranks:
        assert rank.stdout.readline()
    with MIEngine(configuration("gdb: attach to one rank of a running torchrun", rank="881")) as engine:
        engine.initialize()
        assert engine.pids == [ranks[1].pid]
        engine.resume()
        engine.terminate()
    for rank in ranks:
        ends(rank)


def test_only_the_rank_that_is_asked_for_waits(start):
    wanted = configuration("Python half: torchrun", file=str(PROGRAM), rank="1")["args"]
    own = wanted[wanted.index("-m") + 1 :]
    ranks = [start(sys.executable, "-m", *own, env={**os.environ, "RANK": f"{rank}"}) for rank in range(2)]
    ends(ranks[0])
    with MIEngine(configuration("gdb half")) as engine:
        engine.initialize()
        assert engine.pids == [ranks[1].pid]
        engine.resume()
        ends(ranks[1])


def test_one_rank_of_a_real_torchrun(start, tmp_path):
    script = tmp_path / "train.py"
    script.write_text("import crossing, os\nprint(f'rank {crossing.held(int(os.environ[\"RANK\"]))}')\n")
    job = start(*python_half("Python half: torchrun", script, rank="1"))
    with MIEngine(configuration("gdb half")) as engine:
        engine.initialize()
        engine.set_breakpoint(marked("held"))
        engine.resume()
        stop = engine.stop()
        assert stop["frame"]["args"] == [{"name": "value", "value": "1"}]
        engine.command("-break-delete 1")
        engine.carry_on()
        assert sorted(ends(job, 0).splitlines()) == ["rank 1", "rank 3"]


def test_launch_under_gdb(start):
    del start
    with MIEngine(configuration("gdb: launch this file", file=str(PROGRAM))) as engine:
        engine.initialize()
        assert not engine.set_breakpoint(marked("held"))
        engine.resume()
        stop = engine.stop()
        assert (stop["reason"], stop["frame"]["func"]) == ("breakpoint-hit", "crossing::held")
        engine.terminate()


def test_a_core_file(start, tmp_path):
    program = start(sys.executable, PROGRAM)
    assert program.stdout.readline()
    core = tmp_path / "core"
    making = ["gdb", "-nx", "-batch", "-ex", "set auto-solib-add off", "-ex", f"generate-core-file {core}"]
    subprocess.run([*making, "-p", str(program.pid)], check=True, capture_output=True, stdin=subprocess.DEVNULL)
    with MIEngine(configuration("gdb: open a core file", core=str(core))) as engine:
        engine.initialize()
        engine.resume()
        stop = engine.stop()
        assert engine.frames(stop)
        assert engine.command("-data-evaluate-expression sizeof(crossing::held)")
        found = engine.command("-file-list-shared-libraries")["shared-libraries"]
        read = {Path(one["id"]).name.partition(".")[0] for one in found if one["symbols-loaded"] == "1"}
        assert read - {"libc", "ld-linux-x86-64"} == {"crossing"}  # gdb reads these two in any case
    ends(program)
