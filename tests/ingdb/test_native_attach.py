"""Attaching: to a function at once, and what is said when it cannot be done."""

import os
import re
import shutil
import subprocess
import sys
from contextlib import contextmanager

import native_build
import pytest

from kit import needs
from kit.paths import ROOT

pytestmark = pytest.mark.rotated_tests(turns=3)


LOOP = "import ctypes, sys, time\nown = ctypes.CDLL(sys.argv[1])\nprint('ready', flush=True)\n"
LOOP += "while True:\n    own.plain_entry(3)\n    time.sleep(0.001)\n"


@pytest.fixture
def running():
    """The pid of a program that calls a library of the user's again and again."""
    with program_with(native_build.library()) as pid:
        yield pid


@contextmanager
def program_with(library):
    """A program that calls a library again and again."""
    with subprocess.Popen([sys.executable, "-c", LOOP, str(library)], stdout=subprocess.PIPE) as program:
        try:
            assert program.stdout.readline() == b"ready\n"
            yield program.pid
        finally:
            program.kill()


@pytest.fixture
def gdb(tmp_path):
    def run(*commands, before=()):
        load = f"source {ROOT}/pyharness/ingdb/load.py"
        words = [*before, "gdb", "-nx", "-q", "-batch", "-ex", "set width 0", "-ex", load]
        words += [word for command in commands for word in ("-ex", command)]
        home = {"PYHARNESS_HOME": str(tmp_path / "home")}
        done = subprocess.run(words, capture_output=True, text=True, check=False, env=os.environ | home, timeout=60)
        return done.stdout + done.stderr

    return run


def is_traced(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as status:  # noqa: PTH123
        return "TracerPid:\t0" not in status.read()


@pytest.mark.parametrize(
    ("name", "function"), [("plain_entry", "plain_entry"), ("cost", "shop::Item::cost"), ("shop::sum", "shop::sum")]
)
def test_the_stop_is_told_with_its_source(gdb, running, name, function):
    said = gdb(f"ph-attach-at {running} {name}", "info locals", "bt 3")
    assert f"is at {function} () at {native_build.SOURCE}:" in said, said
    assert re.search(rf"^#0  (shop::)?{function} \(", said, re.MULTILINE), said
    assert not is_traced(running)


def test_a_function_without_debug_information_will_do(gdb, running):
    said = gdb(f"ph-attach-at {running} PyEval_SaveThread", "bt 1")
    assert "Thread 1 is at PyEval_SaveThread" in said, said
    assert "PyEval_SaveThread ()" in said, said


def test_a_misspelt_function_has_its_nearest_names_offered(gdb, running):
    said = gdb(f"ph-attach-at {running} plain_enty")
    assert "No function 'plain_enty'" in said, said
    assert "Did you mean plain_entry" in said, said
    assert not is_traced(running)


def test_a_function_of_another_library_is_named_in_full(gdb, running):
    said = gdb(f"ph-attach-at {running} uncaught_exceptions")
    assert "No function 'uncaught_exceptions' in your libraries, and none of that full name in others." in said, said
    assert re.search(r"in full: libstdc\+\+\.so\S* has, for example, std::uncaught_exceptions\.", said), said
    assert not is_traced(running)


@pytest.mark.parametrize("command", ["ph-attach-at", "ph-attach-at 12", "ph-attach-at  12 "])
def test_what_is_missing_is_said(gdb, command):
    assert "Stop at what?" in gdb(command)


def test_symbols_of_the_users_library_alone_are_read(gdb, running):
    said = gdb(
        "python from pyharness.ingdb.opening import attach; from pyharness.ingdb.process import libraries",
        f"python attach.attach({running}, non_stop=False, symbols=False)",
        "python print('read', [str(library) for library in libraries.load_user_symbols()])",
        "python print('again', libraries.load_user_symbols())",
        "python print([objfile.filename for objfile in gdb.objfiles()])",
    )
    assert f"read ['{native_build.library()}']" in said, said
    assert "again []" in said
    assert "libpython" not in said.splitlines()[-1]


def test_a_library_that_was_rebuilt_is_not_taken_for_the_one_that_runs(gdb, tmp_path):
    own = tmp_path / "own.so"
    shutil.copy(native_build.library(), own)
    with program_with(own) as pid:
        shutil.copy(native_build.library("-O2"), tmp_path / "new.so")
        (tmp_path / "new.so").replace(own)
        said = gdb(f"ph-attach {pid}", "python print([objfile.filename for objfile in gdb.objfiles()])")
    assert f"{own} was replaced since the program loaded it" in said, said
    assert str(own) not in said.splitlines()[-2], said


def test_a_process_that_is_gone(gdb, running):
    ended = subprocess.Popen(["true"])
    ended.wait()
    assert f"There is no running process {ended.pid}." in gdb(f"ph-attach {ended.pid}")
    assert is_traced(running) is False


def test_a_process_that_is_being_debugged(gdb, running):
    first = subprocess.Popen(
        ["gdb", "-nx", "-q", "-ex", "set auto-solib-add off", "-ex", f"attach {running}", "-ex", "echo there\\n"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    try:
        assert any(b"there" in line for line in first.stdout)
        said = gdb(f"ph-attach {running}")
        assert f"Process {running} is being debugged already, by gdb (pid {first.pid})." in said, said
        assert "detach or end that one first" in said
    finally:
        first.communicate(b"detach\nquit\n", timeout=30)


def test_a_gdb_that_has_a_program_already(gdb, running):
    said = gdb(f"ph-attach {running}", f"ph-attach {running}", f"ph-attach-at {running} plain_entry", "info threads")
    assert said.count(f"This gdb debugs process {running} already.") == 2, said
    assert "* 1 " in said


AS_NOBODY = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")


def test_a_process_of_someone_else(gdb, running):
    needs.root("only root can run a program as another user")
    if subprocess.run([*AS_NOBODY, "test", "-r", __file__], check=False).returncode:
        needs.skip("other users cannot read this clone")
    said = gdb(f"ph-attach {running}", before=[*AS_NOBODY, "env", "-u", "PYHARNESS_HOME"])
    assert f"No permission to attach to process {running}." in said, said
    assert "It belongs to root and you are nobody" in said, said
