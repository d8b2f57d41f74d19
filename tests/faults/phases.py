"""The phases of a session, each as a function that brings one there; for what can happen at any of them."""

from harness_process import STANDS, at

from kit.paths import PROGRAMS
from kit.slow_gdb import SlowGdb

LATE = PROGRAMS / "fault_late.py"


def named(phase):
    return phase.__name__


def starting(pyharness, tmp_path):
    (tmp_path / "sitecustomize.py").write_text(
        "import os, sys\n"
        "if '--channel' in sys.orig_argv:\n"
        "    print('starting', flush=True)\n"
        "    open(os.environ['PAUSES']).read()\n"
    )
    path = f"{tmp_path}:{pyharness.environment['PYTHONPATH']}"
    harness = pyharness("step", STANDS, "--at", "native:held", PYTHONPATH=path).until("starting")
    harness.on_release = harness.go_on
    return harness


def waiting_for_a_library(pyharness, _):
    return pyharness("step", LATE, "--at", "native:held").until("before")


def attaching(pyharness, tmp_path):
    gdb = SlowGdb(tmp_path, "before")
    harness = pyharness("step", STANDS, "--at", "native:held", **gdb.environment)
    gdb.wait_until_it_attaches()
    harness.on_release = gdb.let_go
    return harness


def attached(pyharness, tmp_path):
    gdb = SlowGdb(tmp_path, "after")
    harness = pyharness("step", STANDS, "--at", "native:held", **gdb.environment)
    gdb.wait_until_it_attaches()
    harness.on_release = gdb.let_go
    return harness


def running_without_gdb(pyharness, _):
    return pyharness("step", LATE, "--at", at("native", LATE)).until("before")


def running_under_gdb(pyharness, _):
    return pyharness("step", STANDS, "--at", "native:crash", "--", "between").until("between")


def standing_in_python(pyharness, _):
    return pyharness("step", STANDS, "--at", at("python"), "--over", paused=True).until_standing()


def standing_in_native_code(pyharness, _):
    return pyharness("step", STANDS, "--at", "native:held", "--over", paused=True).until_standing()


ASKS = "__import__('os').write(1, b'asked\\n'), __import__('os').read(0, 1)"
"""The program's own streams: those of an expression go to whoever asks."""


def asking_in_python(pyharness, _):
    return pyharness("step", STANDS, "--at", at("python"), "--print", ASKS).until("asked")


def asking_in_native_code(pyharness, _):
    return pyharness("step", STANDS, "--at", "native:held", "--print", f"py:{ASKS}").until("asked")


def stepping_into(pyharness, _):
    return pyharness("step", STANDS, "--at", at("inline"), "--into", "--", "inline").until("inline")


def finishing(pyharness, _):
    return pyharness("step", STANDS, "--at", "native:held", "--", "between").until("between")


PHASES = (
    starting,
    waiting_for_a_library,
    attaching,
    attached,
    running_without_gdb,
    running_under_gdb,
    standing_in_python,
    standing_in_native_code,
    asking_in_python,
    asking_in_native_code,
    stepping_into,
    finishing,
)
ASKING = (asking_in_python, asking_in_native_code)
