"""A suite of tests of an extension, in which each fault is followed by a test that passes."""

import ctypes
import multiprocessing
import os
import threading

import pytest

library, holding = (kind(os.environ["FAULTS"]) for kind in (ctypes.CDLL, ctypes.PyDLL))
FAULTS = ("null_pointer", "wild_pointer", "calls_nothing", "divides", "traps", "aborts", "double_free", "terminates")
HANGS = {"locks_twice": holding, "spins": library}


def harmless():
    assert library.harmless(1) == 2


@pytest.mark.parametrize("name", [*FAULTS, "overflow", "in_native_thread", "overflow_in_native_thread"])
def test_fault(name):
    print(f"calls {name}")
    getattr(library, name)(None, 0)  # @fault


def test_behind_faults():
    harmless()


@pytest.mark.parametrize("name", ["wild_pointer", "overflow"])
def test_in_thread(name):
    thread = threading.Thread(target=getattr(library, name))
    thread.start()
    thread.join()  # @in_thread


def dies():
    library.wild_pointer()


@pytest.mark.parametrize("way", ["spawn", "forkserver"])
def test_child(way):
    child = multiprocessing.get_context(way).Process(target=dies)
    child.start()
    child.join()
    assert child.exitcode == 0


def test_behind_thread():
    harmless()


@pytest.mark.pyharness(timeout=1)
@pytest.mark.parametrize("name", HANGS)
def test_hang(name):
    getattr(HANGS[name], name)()  # @hang


@pytest.mark.pyharness(timeout=1)
def test_python_lock():
    mine = threading.Lock()
    mine.acquire()
    mine.acquire()  # @python_lock


def test_behind_hangs():
    harmless()
