"""Whatever part dies in whatever phase: the program lives and is right, nothing is left, the next session is clean.

``make fault-test`` runs every cell three times, ``make test-all`` once; docs/faults.md has the table.
"""

import contextlib
import subprocess

import pytest
from cells import TIMES, cells
from struck import Struck

from kit import needs

LOST = "gdb ended unexpectedly. The program was let go and runs on without a debugger."


@pytest.fixture
def cell(environment, tmp_path, monkeypatch):
    made = []

    def make(door, part, phase):
        disk = small_disk(tmp_path, made) if part == "disk" else None
        if disk:
            environment["PYHARNESS_HOME"] = str(disk.folder)
            monkeypatch.setenv("PYHARNESS_HOME", str(disk.folder))
        made.append(Struck(door, phase, tmp_path, environment))
        made[-1].disk = disk  # type: ignore[attr-defined]
        return made[-1].bring()

    yield make
    for each in reversed(made):
        each.end()


class Disk:
    """A file system in memory, of four megabytes."""

    def __init__(self, folder):
        self.folder = folder
        folder.mkdir()
        command = ["mount", "-t", "tmpfs", "-o", "size=4m,mode=700", "tmpfs", str(folder)]
        self.mounted = subprocess.run(command, capture_output=True, check=False).returncode == 0

    def fill(self):
        with contextlib.suppress(OSError), (self.folder / "filled").open("wb", buffering=0) as file:
            while True:  # to the last byte, whatever others write meanwhile
                file.write(bytes(4096))

    def end(self):
        if self.mounted:
            subprocess.run(["umount", "--lazy", str(self.folder)], check=True)


def small_disk(tmp_path, made):
    disk = Disk(tmp_path / "disk")
    made.append(disk)
    if not disk.mounted:
        needs.skip("a file system can be mounted by root only")
    return disk


@pytest.mark.slow
@pytest.mark.rotated(turns=18)
@pytest.mark.parametrize("number", range(TIMES))
@pytest.mark.parametrize(("door", "part", "phase"), cells(), ids=lambda word: str(word).replace(" ", "-"))
def test_a_part_dies(cell, door, part, phase, number):
    del number
    struck = cell(door, part, phase)
    PARTS[part](struck, phase)


def harness(struck, phase):
    struck.strike("harness")
    struck.go_on()
    leaves_a_fresh_program(struck, phase)


def terminal(struck, phase):
    program = struck.family["program"]
    struck.strike("terminal")
    struck.go_on()
    if struck.door == "debug":  # it was the terminal's, too
        program.wait_for_end()
        struck.alone()
    else:
        leaves_a_fresh_program(struck, phase)


def gdb(struck, phase):
    struck.strike("gdb")
    struck.go_on()
    struck.debugger_ended()
    struck.until(LOST, *(["ended in order"] if phase == "leaving" else []))
    assert "Traceback" not in struck.said, struck.story()
    leaves_a_fresh_program(struck, phase)


def program(struck, phase):
    del phase
    victim = struck.family["program"]
    struck.strike("program")
    struck.go_on()
    struck.debugger_ended()
    victim.wait_for_end()
    assert "Traceback" not in struck.said, struck.story()
    struck.alone()


def disk(struck, phase):
    struck.disk.fill()
    struck.go_on()
    if phase == "running":
        struck.hang_up()  # what it waits for never comes
    struck.debugger_ended()
    assert "bug in pyharness" not in struck.said, struck.story()
    assert "Traceback" not in struck.said, struck.story()
    struck.alone(spared={"program"})
    if "program" in struck.family:
        struck.ends_right()


PARTS = {"harness": harness, "gdb": gdb, "program": program, "terminal": terminal, "disk": disk}


def leaves_a_fresh_program(struck, phase):
    """A program that never came to its first line has no reason to begin."""
    struck.alone(spared={"program"})
    if struck.door == "debug" and phase == "starting":
        struck.hang_up()
        struck.alone()
        return
    struck.is_fresh()
    struck.next_session()
    struck.ends_right()
