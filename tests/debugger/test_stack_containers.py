"""``pyharness stack`` and ``attach`` of programs in containers: files, sources and ids are theirs, translated."""

import subprocess
import sys

import pytest

from kit import needs
from kit.command import PYHARNESS
from kit.marks import line_of
from kit.paths import PROGRAMS, ROOT

pytestmark = pytest.mark.rotated_tests(turns=5)


PROGRAM, SOURCE = PROGRAMS / "ledger.py", PROGRAMS / "tally.c"
USER = ("--user", "--map-root-user")
KINDS = [(), ("--net",), USER, ("--net", "--ipc", "--uts", *USER)]
READERS = [(), ("--locals",)]
"""Without gdb, and by gdb."""
UNPRIVILEGED = ("setpriv", "--bounding-set", "-sys_admin,-sys_chroot", "--inh-caps", "-sys_admin,-sys_chroot")
"""What ``kubectl debug`` gives beside nothing: ptrace."""
UNTRACING = ("setpriv", "--bounding-set", "-sys_ptrace", "--inh-caps", "-sys_ptrace")
ATTACHES = """
import sys, pyharness
with pyharness.attach(1) as program:
    there = program.set_breakpoint("py:ledger.py:" + sys.argv[1])
    print("set", flush=True)
    stops = program.resume(), program.into(), program.out()
    print([(stop.frame.file, stop.frame.line, stop.thread) for stop in stops])
"""


def waiting():
    """The frame of the main thread, with its line."""
    line = line_of("waits", PROGRAM)
    return f"/app/ledger.py:{line}  {PROGRAM.read_text().splitlines()[line - 1]}"


@pytest.mark.parametrize("reader", READERS, ids=["without gdb", "by gdb"])
@pytest.mark.parametrize("options", KINDS, ids=lambda options: " ".join(options) or "other files and processes")
def test_a_stack_from_outside(contained, pyharness, options, reader):
    container = contained(*options)
    shown = pyharness("stack", container.pid, *reader)
    assert shown.returncode == 0, shown.stderr
    assert f"Process {container.pid} is process 1 in its container." in shown.stdout
    assert waiting() in shown.stdout
    assert "go.wait()" in shown.stdout
    for thread in container.threads:
        assert f"Thread {thread} " in shown.stdout
    container.say("4\n")
    assert container.hear() == "13"


@pytest.mark.parametrize("before", [(), UNPRIVILEGED], ids=["root", "ptrace alone"])
def test_from_a_debug_container(contained, before):
    container = contained()
    beside = needs.surroundings(container.beside(*before), "nsenter and mounts")
    stack = subprocess.run([*beside, *PYHARNESS, "stack", "1"], capture_output=True, text=True, check=False, cwd=ROOT)
    assert stack.returncode == 0, stack.stderr
    assert "Thread 1 " in stack.stdout
    assert waiting() in stack.stdout
    command = [*beside, sys.executable, "-c", ATTACHES, str(line_of("calls", PROGRAM))]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as debugger:
        assert debugger.stdout.readline() == "set\n"
        container.say("4\n")
        places = (("ledger.py", "calls", PROGRAM), ("tally.c", "first", SOURCE), ("ledger.py", "after", PROGRAM))
        expected = [(f"/app/{name}", line_of(mark, file), 1) for name, mark, file in places]
        assert debugger.stdout.readline() == f"{expected}\n"
    assert debugger.returncode == 0
    assert container.hear() == "13"
    assert container.end() == (0, "temporary []\n", "")


@pytest.mark.parametrize("words", [("stack", "1"), ("attach", "1", "--", "-batch")], ids=["stack", "attach"])
def test_a_debug_container_without_ptrace(contained, words):
    container = contained()
    beside = needs.surroundings(container.beside(*UNTRACING), "nsenter and mounts")
    refused = subprocess.run([*beside, *PYHARNESS, *words], capture_output=True, text=True, check=False)
    said = refused.stdout + refused.stderr
    assert "No permission to attach to process 1." in said
    assert "--cap-add=SYS_PTRACE" in said
    assert "Traceback" not in said
    container.say("4\n")
    assert container.hear() == "13"


def test_a_debugger_of_another_user_namespace(contained):
    container = contained()
    beside = needs.surroundings([*container.beside(), "unshare", *USER], "nsenter and mounts")
    refused = subprocess.run([*beside, *PYHARNESS, "stack", "1"], capture_output=True, text=True, check=False)
    assert refused.returncode == 1
    assert "No permission to attach to process 1." in refused.stderr
    assert "user namespace" in refused.stderr


def test_gdb_from_outside_shows_sources_of_in_there(contained):
    container = contained()
    commands = ("break weigh", "continue", "ph-bt")
    words = ["attach", str(container.pid), "--", "-batch", *(word for each in commands for word in ("-ex", each))]
    with subprocess.Popen([*PYHARNESS, *words], stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True) as gdb:
        first = gdb.stdout.readline()
        assert first == f"Attached to {container.pid}, process 1 in its container: {container.python} ledger.py\n"
        container.say("4\n")
        shown = gdb.communicate(timeout=60)[0]
    for mark, file in (("weight", SOURCE), ("weighs", SOURCE), ("calls", PROGRAM)):
        line = line_of(mark, file)
        text = file.read_text().splitlines()[line - 1].strip()
        assert any(f"/app/{file.name}:{line} " in each and text in each for each in shown.splitlines()), shown
    assert container.hear() == "13"
