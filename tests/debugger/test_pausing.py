"""A pause that debugpy and gdb make at almost the same time, and one on a machine that lets the program hardly run."""

import os
import subprocess
import sys
import sysconfig
import threading
from pathlib import Path

import pytest

import pyharness
from kit.interpreters import cases, interpreters
from pyharness.host.process_state import computed

SCRIPT = """def spin():
    count = 0
    while count >= 0:
        count += 1
spin()
"""


@pytest.fixture
def spinning(tmp_path):
    """A program that computes in Python, and its session."""
    path = tmp_path / "spins.py"
    path.write_text(SCRIPT)
    with pyharness.debug(str(path)) as program:
        stop = program.run_to(f"py:{path}:4")
        assert stop.frame.function == "spin"
        yield program


def test_a_stop_of_debugpys_that_was_forgotten_is_none(spinning):
    """debugpy has stopped a thread, and is told to let it go, for gdb to stop it: that thread runs."""
    shell = spinning._shell
    shell.attach()
    shell.begin("continue")
    shell.pause(spinning.pid)
    others = []
    while (event := shell._events.get(timeout=60))[0] != "debugpy" or event[1]["event"] != "stopped":
        others.append(event)
    pause = ("pause", spinning.pid)
    while pause not in others:  # a look before its time would be that of an earlier pause
        others.append(shell._events.get(timeout=60))
    for each in [pause, *(other for other in others if other != pause), event]:
        shell.handle(*each)
    told = [shell.machine.focus]
    shell.pump(lambda: shell.machine.focus is not None)
    told.append(shell.machine.focus)
    shell.begin("continue")
    shell.pause(spinning.pid)
    shell.handle(*event)  # as long as a thread holds the GIL in native code, debugpy reads nothing, and stops later
    told.append(shell.machine.focus)
    shell.pump(lambda: shell.machine.focus is not None)
    told.append(shell.machine.focus)
    assert [stop and stop.language for stop in told[:-1]] == [None, "native", None]
    assert told[-1] is not None


@pytest.mark.parametrize("version", cases())
@pytest.mark.parametrize("beside", [False, True], ids=["alone", "beside a breakpoint"])
def test_a_loop_is_paused_at_a_line_of_python(tmp_path, version, beside):
    path = tmp_path / "spins.py"
    path.write_text(f"{SCRIPT}count = 0\n")
    with pyharness.debug(str(path), python=interpreters()[version]) as program:
        if beside:
            program.set_breakpoint(f"py:{path}:6")
        shell = program._shell
        shell.begin("continue")
        while computed(program.pid, program.pid) is None:
            pass
        shell.pause(program.pid)
        shell.pump(lambda: shell.machine.focus is not None)
        assert (shell.machine.focus.language, shell.machine.focus.reason) == ("python", "pause")
        program.kill()


BEGINS = """import pydevd, sys, threading
thread = threading.Thread()
threading._limbo[thread] = thread
pydevd.get_global_debugger().do_wait_suspend(thread, sys._getframe(), "return", None)
del threading._limbo[thread]
"""


@pytest.mark.parametrize("version", cases())
def test_a_thread_that_begins_does_not_stand_before_python_knows_it(tmp_path, version):
    """Nothing can be evaluated on it, and who starts it waits for it; a pause seldom comes in these microseconds."""
    path = tmp_path / "begins.py"
    path.write_text(BEGINS)
    with pyharness.debug(str(path), python=interpreters()[version]) as program:
        assert program.resume() is None
        assert program.exit_code == 0


def test_the_time_that_a_thread_has_computed():
    code = "import sys; print(1, flush=True)\nwhile True: pass"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as busy:
        busy.stdout.readline()
        first = second = computed(busy.pid, busy.pid)
        while first is None or second is None or second <= first:
            first, second = second if first is None else first, computed(busy.pid, busy.pid)
        busy.kill()
    assert computed(busy.pid, busy.pid) is None


def test_a_thread_that_waits_computes_nothing():
    lwp, goes_on = [], threading.Event()

    def waits():
        lwp.append(threading.get_native_id())
        goes_on.wait()

    thread = threading.Thread(target=waits)
    thread.start()
    while not lwp or computed(os.getpid(), lwp[0]) is not None:
        pass
    goes_on.set()
    thread.join()


def test_a_look_that_was_meant_for_an_earlier_pause(tmp_path):
    """Python has its quarter of a second, also where the thread waits, as it does for the GIL."""
    path = tmp_path / "waits.py"
    path.write_text("import time\ntime.sleep(0.001)\ntime.sleep(600)\n")
    with pyharness.debug(str(path)) as program:
        program.run_to(f"py:{path}:3")
        shell = program._shell
        shell.begin("continue")
        while computed(program.pid, program.pid) is not None:
            pass
        shell.pause(program.pid)
        shell.handle("pause", program.pid)
        assert shell.machine.pausing == "python"
        shell.pump(lambda: shell.machine.focus is not None)
        assert shell.machine.focus.language == "native"


DROPS = """#include <Python.h>
static int count;
static void dropped(PyObject *self) {
  ++count;
  PyObject_Free(self);
}
static PyType_Slot slots[] = {{Py_tp_dealloc, dropped}, {0, NULL}};
static PyType_Spec spec = {"drops.Held", sizeof(PyObject), 0, Py_TPFLAGS_DEFAULT, slots};
static PyObject *drop(PyObject *module, PyObject *held) {
  while (count >= 0) {
    PyObject *made = PyObject_New(PyObject, (PyTypeObject *)held);
    Py_DECREF(made);
  }
  Py_RETURN_NONE;
}
static PyMethodDef functions[] = {{"drop", drop, METH_O, NULL}, {NULL, NULL, 0, NULL}};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "drops", NULL, -1, functions};
PyMODINIT_FUNC PyInit_drops(void) {
  PyObject *made = PyModule_Create(&module);
  PyModule_AddObject(made, "Held", PyType_FromSpec(&spec));
  return made;
}
"""
DROPPING = """import ctypes
from pathlib import Path

import drops

address = ctypes.cast(ctypes.pythonapi._Py_Dealloc, ctypes.c_void_p).value
Path("dealloc").write_text(hex(address))
drops.drop(drops.Held)
"""


def test_a_stop_on_the_way_out_of_the_interpreter_is_told_in_place_of_the_pause(tmp_path, monkeypatch):
    """What the interpreter finishes may call the user's code, which has breakpoints."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "drops.c").write_text(DROPS)
    include = f"-I{sysconfig.get_path('include')}"
    subprocess.run(["gcc", "-g", "-O0", "-fPIC", "-shared", include, "-o", "drops.so", "drops.c"], check=True)
    (tmp_path / "dropping.py").write_text(DROPPING)
    with pyharness.debug("dropping.py") as program:
        program.run_to("native:drop")
        native, thread = program._shell.native, program.pid
        native.link.command(f"-break-insert -t *{Path('dealloc').read_text()}")
        with native.link.gathered() as stops:
            native.threads.resume(thread)
            stops.get(timeout=60)
        native.link.command("-break-insert dropped")
        came = native.asking.come_out(thread)
        assert came.values["reason"] == "breakpoint-hit"
        assert came.values["frame"]["func"] == "dropped"
        assert native.asking.come_out(thread) is None
        assert program.evaluate("py:[1] + [2]") == "[1, 2]"
