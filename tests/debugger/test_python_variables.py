"""Variables of Python that are set for the program: gdb's own Python does not obey them."""

import subprocess

import pytest

import pyharness
from kit.paths import ROOT
from pyharness.gdbmi.client import find_gdb


@pytest.fixture(autouse=True)
def warnings_are_errors(monkeypatch):
    monkeypatch.setenv("PYTHONWARNINGS", "error")


def test_gdb_is_asked_all_the_same(debugged):
    with debugged("core_crossing.py").start() as program:
        assert program.run_to("native:tick").frame.language == "native"
        assert program.finish() == 7


def test_a_gdb_of_the_persons_own():
    command = [
        find_gdb(),
        "-nx",
        "-q",
        "-batch",
        "-ex",
        f"source {ROOT / 'pyharness/ingdb/load.py'}",
        "-ex",
        "help ph-bt",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "stack of both languages" in done.stdout, done.stderr


@pytest.mark.parametrize(("value", "stops"), [("", 1), ("0", 0)])
def test_what_breakpoint_does(tmp_path, monkeypatch, value, stops):
    monkeypatch.setenv("PYTHONBREAKPOINT", value)
    script = tmp_path / "breaks.py"
    script.write_text("value = 1\nbreakpoint()\nvalue = 2\n")
    with pyharness.debug(str(script)) as program:
        program.run_to(f"py:{script}:1")
        assert (program.resume() is not None) == bool(stops)
