"""Attaching to programs that already run: breakpoints bind in running loops, and a detach leaves nothing behind."""

import gc
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import pyharness
from kit import needs
from kit.interpreters import a_newer_python, interpreters
from pyharness.host import handles
from pyharness.model.errors import HarnessError, UsageError

pytestmark = pytest.mark.rotated_tests(turns=5)


HOW = [pytest.param({"handle": "walker"}, id="by handle"), pytest.param({}, id="by pid")]


def name_of(program, how):
    return how.get("handle") or program.pid


@pytest.mark.rotated_tests(turns=1, number=0)
@pytest.mark.rotated
@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize(("way", "mark"), [("calls", "work"), ("nothing", "nothing"), ("threads", "work")])
def test_a_breakpoint_binds_in_a_loop_that_runs(running, how, way, mark):
    walker = running("attach_loop.py", way, **how)
    with pyharness.attach(name_of(walker, how)) as program:
        stop = program.run_to(walker.at(mark))
        assert stop.frame.function == {"work": "work"}.get(mark, way)
        assert int(program.evaluate("number")) >= 0
        assert program.over().thread == stop.thread
        assert program.pid == walker.pid
    walker.ends_free()


@needs.TRACE_FUNCTIONS
def test_a_thread_that_is_in_debugpy_when_a_session_ends_is_the_next_sessions(running):
    walker = running("attach_loop.py", "late")
    for _ in range(3):
        with pyharness.attach(walker.pid) as program:
            for _ in range(2):
                assert program.run_to(walker.at("work")).frame.function == "work"
            assert program.over().frame.function == "work"
    walker.ends_free()


def test_a_program_that_loads_a_library_while_a_debugger_comes(running):
    """What it loads was told before it said who it is: the debugger took that for the end of the connection."""
    walker = running("attach_loop.py", "loads")
    for _ in range(5):
        with pyharness.attach(walker.pid) as program:
            assert program.run_to(walker.at("work")).frame.function == "work"
    walker.ends_free()


def test_each_session_counts_its_own_hits(running):
    walker = running("attach_loop.py", "calls", handle="walker")
    for hits in ("hits 2", "hits 2", "hits 3"):
        with pyharness.attach("walker") as program:
            assert program.run_to(f"{walker.at('work')} {hits}").reason == "breakpoint"
    walker.ends_free()


@pytest.mark.rotated
@pytest.mark.parametrize("how", HOW)
def test_native_code_that_runs_is_stopped_in_and_stepped_out_of(running, how):
    walker = running("attach_loop.py", "native", **how)
    with pyharness.attach(name_of(walker, how)) as program:
        stop = program.run_to("native:tick")
        assert stop.frame.function == "crossing::tick"
        functions = [frame.function for frame in program.stack() if not frame.plumbing]
        assert functions == ["crossing::tick", "crossing::repeat", "native", "<module>"]
        assert program.out().frame.function == "crossing::repeat"
        program.run_to(walker.at("released"))
        assert program.into_native().frame.function == "crossing::released"
        assert program.out().frame.function == "native"
    walker.ends_free()


def test_a_main_thread_in_native_code_keeps_nobody_out(running):
    walker = running("attach_loop.py", "blocked")
    with pyharness.attach(walker.pid) as program:
        stop = program.run_to(walker.at("work"))
        assert stop.thread != walker.pid
    walker.ends_free()


def test_a_part_of_the_command_line_is_a_name(running):
    walker = running("attach_loop.py", "calls", "--unmistakable")
    with pyharness.attach("--unmistakable") as program:
        assert program.pid == walker.pid
    walker.ends_free()


def test_twenty_debuggers_in_a_row_leave_nothing(running):
    walker = running("attach_loop.py", "calls", handle="walker")

    def visit():
        with pyharness.attach("walker") as program:
            program.run_to(walker.at("work"))

    def counts():
        gc.collect()
        ours = threading.active_count(), len(list(Path("/proc/self/fd").iterdir()))
        children = Path(f"/proc/self/task/{os.getpid()}/children").read_text()
        return ours, children, walker.files

    visit()
    before, tasks = counts(), walker.tasks
    for _ in range(20):
        visit()
    assert counts() == before
    walker.wait_for_threads(tasks + 1)  # debugpy's end by themselves, within a moment
    walker.ends_free()


def test_a_program_that_ends_while_it_is_debugged(running):
    walker = running("attach_loop.py", "calls", handle="walker")
    with pyharness.attach("walker") as program:
        program.run_to(walker.at("work"))
        walker.say("end\n")
        assert program.resume() is None
        assert program.exit_code == 7
    assert walker.end()[0] == 7


def test_killing_what_was_attached_to_is_possible(running):
    walker = running("attach_loop.py", "calls", handle="walker")
    with pyharness.attach("walker") as program:
        program.run_to(walker.at("work"))
        program.kill()
    assert walker.end()[0] in {-9, -15}


def test_a_second_debugger_is_told_who_is_there(running):
    walker = running("attach_loop.py", "calls", handle="walker")
    with pyharness.attach("walker"), pytest.raises(HarnessError) as refused, pyharness.attach("walker"):
        pass
    assert f"by pyharness (pid {os.getpid()})" in refused.value.message
    walker.ends_free()


def test_native_code_that_keeps_the_gil_keeps_us_out(running):
    walker = running("attach_loop.py", "holding").until("holding")
    with pytest.raises(HarnessError) as refused:
        pyharness.attach(walker.pid, seconds=1).__enter__()
    assert "did not run our Python code" in refused.value.message
    assert "pyharness stack" in refused.value.remedy
    walker.ends_free()


def test_a_program_that_may_open_no_more_files_is_said_to_be_one(running, tmp_path):
    script = tmp_path / "full.py"
    script.write_text(
        "import resource, sys\nresource.setrlimit(resource.RLIMIT_NOFILE, (3, 3))\n"
        "print('begin', flush=True)\nsys.stdin.read()\n"
    )
    walker = running(str(script)).until("begin")
    with pytest.raises(HarnessError) as refused:
        pyharness.attach(walker.pid, seconds=1).__enter__()
    assert "did not run our Python code" in refused.value.message
    assert "all 3 files that it may open" in refused.value.remedy


def test_a_debugger_in_the_program_itself_is_named(running, tmp_path):
    script = tmp_path / "debugs_itself.py"
    script.write_text("import sys, debugpy\ndebugpy.listen(0)\nprint('begin', flush=True)\nsys.stdin.read()\n")
    running(str(script), handle="walker")
    with pytest.raises(HarnessError) as refused:
        pyharness.attach("walker").__enter__()
    assert "by debugpy, in the program itself" in refused.value.message


def test_a_program_whose_functions_of_atexit_run(running, tmp_path):
    """debugpy ends itself where it finds no thread that Python waits for."""
    script = tmp_path / "last.py"
    script.write_text(
        "import atexit, sys, threading\n"
        "@atexit.register\ndef last():\n    print('begin', flush=True)\n    sys.stdin.read()\n"
    )
    walker = running(str(script)).until("begin")
    with pytest.raises(HarnessError) as refused:
        pyharness.attach(walker.pid).__enter__()
    assert "functions of atexit" in refused.value.message
    assert f"pyharness stack {walker.pid}" in refused.value.remedy
    assert walker.end() == (0, "begin\n", "")


@a_newer_python("3.12")
def test_a_program_that_has_the_debuggers_number_of_monitoring(tmp_path):
    script = tmp_path / "monitors.py"
    script.write_text(
        "import sys\nsys.monitoring.use_tool_id(0, 'mine')\nprint('begin', flush=True)\nsys.stdin.read()\n"
    )
    with subprocess.Popen([interpreters()["3.12"], script], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as program:
        assert program.stdout.readline() == b"begin\n"
        with pytest.raises(HarnessError) as refused:
            pyharness.attach(program.pid).__enter__()
        assert "by 'mine', which has the debugger's number of sys.monitoring" in refused.value.message
        program.stdin.close()
        assert program.wait(10) == 0


def test_names_that_mean_nothing(running):
    running("attach_loop.py", "calls", handle="walker")
    for wrong, remedy in {"wolker": "Did you mean walker?", str(2**22): "A name works too"}.items():
        with pytest.raises(UsageError) as refused:
            pyharness.attach(wrong)
        assert remedy in refused.value.remedy


def test_a_process_without_python():
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as cat, pytest.raises(HarnessError) as refused:
        pyharness.attach(cat.pid)
    assert "it has no Python in it" in refused.value.message
    assert "pyharness attach" in refused.value.remedy


def test_one_that_is_stopped_by_a_signal_is_said_to_be_that(running):
    walker = running("attach_loop.py", "calls")
    os.kill(walker.pid, signal.SIGSTOP)
    os.waitid(os.P_PID, walker.pid, os.WSTOPPED | os.WNOWAIT)
    with pytest.raises(HarnessError, match="is stopped by a signal") as refused:
        pyharness.attach(walker.pid)
    assert f"kill -CONT {walker.pid}" in refused.value.remedy
    os.kill(walker.pid, signal.SIGCONT)
    walker.ends_free()


def test_a_program_that_another_debugger_has_stopped_names_it(running):
    """It has a handle, and cannot answer there."""
    walker = running("attach_loop.py", "calls", handle="walker")
    words = ["gdb", "-nx", "-q", "-batch", "-p", str(walker.pid), "-ex", "shell echo stopped", "-ex", "shell cat"]
    other = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        while "stopped" not in other.stdout.readline():
            pass
        with pytest.raises(HarnessError, match=rf"already being debugged, by process {other.pid} \(\S*gdb"):
            pyharness.attach("walker", seconds=1)
    finally:
        other.communicate("")
    walker.ends_free()


def test_a_program_that_a_signal_stops_meanwhile_is_said_to_be_stopped(running):
    walker = running("attach_loop.py", "calls", handle="walker")
    with pyharness.attach("walker") as program:
        program.run_to(walker.at("work"))
        os.kill(walker.pid, signal.SIGSTOP)
        for ask in (lambda: program.evaluate("number"), program.stack):
            with pytest.raises(HarnessError, match=f"Process {walker.pid} is stopped by a signal") as error:
                ask()
            assert f"kill -CONT {walker.pid}" in str(error.value)
        os.kill(walker.pid, signal.SIGCONT)
        assert int(program.evaluate("number")) >= 0
    walker.ends_free()


def test_a_stopped_program_keeps_nobody_who_looks_for_programs(running):
    """Each look leaves a connection in its queue, which has an end: the next one would wait there."""
    walker = running("attach_loop.py", "calls", handle="walker")
    os.kill(walker.pid, signal.SIGSTOP)
    try:
        for _ in range(12):
            assert [handle.name for handle in handles.live()] == ["walker"]
        with pytest.raises(HarnessError, match="does not answer"):
            pyharness.attach("walker", seconds=0.5)
    finally:
        os.kill(walker.pid, signal.SIGCONT)
    walker.ends_free()


ENDS = """import os, sys
print("begun", flush=True)
open("go").close()
os._exit(7) if "exits" in sys.argv else os.kill(os.getpid(), 15)
"""


@pytest.mark.parametrize(("way", "code"), [("exits", 7), ("killed", -15)])
def test_how_it_ended_is_known_where_another_process_is_its_parent(tmp_path, way, code):
    """Or it is said to be unknown: up to Linux 6.14 a process leaves nothing once its parent has heard."""
    (tmp_path / "ends.py").write_text(ENDS)
    os.mkfifo(tmp_path / "go")
    shell = f"{sys.executable} {tmp_path / 'ends.py'} {way} & echo $!; wait"
    with subprocess.Popen(["sh", "-c", shell], stdout=subprocess.PIPE, text=True, cwd=tmp_path) as parent:
        pid = int(parent.stdout.readline())
        assert parent.stdout.readline() == "begun\n"
        with pyharness.attach(pid) as program:
            (tmp_path / "go").write_text("")
            with pytest.raises(HarnessError, match="ended"):
                program.run_to(f"py:{tmp_path / 'ends.py'}:4 if os is None")
            process = program._shell.process
            assert (program.exit_code, process.exit_known) in {(code, True), (0, False)}
