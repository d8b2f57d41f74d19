"""gdb may not attach: the error says why and what to do, and Python stops work without it."""

import json
import subprocess
import sys
from pathlib import Path

from harness_process import at
from phases import LATE

from kit.paths import PROGRAMS

UNTRACEABLE = PROGRAMS / "fault_untraceable.py"


def test_a_program_that_refuses(pyharness, powerless):
    harness = pyharness("step", UNTRACEABLE, "--at", "native:held", before=powerless)
    status, errors = harness.end()
    assert status == 1
    assert "pyharness: No permission to attach to process" in errors
    assert "SYS_PTRACE" in errors or "ptrace_scope" in errors
    assert "Traceback" not in errors


def test_python_stops_do_not_need_the_permission(pyharness, powerless):
    words = ("step", UNTRACEABLE, "--json", "--at", at("native", UNTRACEABLE), "--over", "--print", "total")
    harness = pyharness(*words, before=powerless)
    status, _ = harness.end()
    stops = json.loads(harness.said)["stops"]
    assert (status, stops[-1]["printed"]) == (7, {"total": "3"})


def test_a_program_that_someone_else_traces(pyharness):
    harness = pyharness("step", LATE, "--at", "native:held").until("before")
    pid = harness.family()["program"].pid
    tracer = [sys.executable, Path(__file__).with_name("tracer.py"), str(pid)]
    with subprocess.Popen(tracer, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout.readline() == "traces\n"
        status, errors = harness.answer().end()
    assert status == 1
    assert f"pyharness: Process {pid} is being debugged already, by python" in errors
    assert f"(pid {other.pid})" in errors
    assert "detach or end that one first" in errors
