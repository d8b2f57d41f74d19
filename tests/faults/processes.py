"""The processes that carry a mark in their environment, and what the kernel says of them."""

import contextlib
import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path

from kit.processes import carrying, ends_within
from pyharness.host.loader import words_of

PATIENCE = 30


@dataclass(frozen=True)
class Process:
    """A live process; ``role`` says which of ours it is."""

    pid: int
    command: str

    @property
    def role(self):
        return role_in(self.command.split())

    def kill(self, number=signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, number)

    def wait_for_end(self):
        """Wait until it is gone (it need not be a child)."""
        assert ends_within(self.pid, PATIENCE), f"{self} did not end"


def role_of(pid):
    """Which of ours a process is."""
    return role_in(words_of(pid))


def role_in(words):
    """Which of ours a process with these words on its command line is."""
    if words and words[0].endswith("gdb"):  # one that becomes another program has no words for a moment
        return "gdb"
    parts = {"program": "--channel", "harness": "step"}
    return next((role for role, part in parts.items() if part in words), "other")


def marked_with(home):
    """Live processes started with ``PYHARNESS_HOME=home``, in order of pid."""
    found = (Process(*each) for each in carrying(f"PYHARNESS_HOME={home}"))
    return sorted((process for process in found if status(process.pid)), key=lambda process: process.pid)


def status(pid):
    """The state letter of ``pid`` and its tracer; ``None`` when it is gone or a zombie."""
    fields = _fields(pid)
    letter = fields.get("State", "X")[0]
    return None if letter in "ZX" else (letter, int(fields["TracerPid"]))


def parent(pid):
    """The pid of a process's parent; 0 when it is gone."""
    return int(_fields(pid).get("PPid", 0))


def _fields(pid):
    lines = _text(Path(f"/proc/{pid}/status")).splitlines()
    return dict(line.split(":\t", 1) for line in lines if ":\t" in line)


def wait_for_read(process):
    """Wait until a thread of it reads a pipe that has nothing: only the kernel knows."""
    while not any("pipe_read" in _text(task) for task in Path(f"/proc/{process.pid}/task").glob("*/wchan")):
        assert status(process.pid), f"{process} has ended"


def _text(path):
    with contextlib.suppress(OSError):
        return path.read_text()
    return ""


def wait_until_it_runs(process):
    """Wait until no thread of it is held: who is woken goes on a moment after whoever held it has gone."""
    ends = time.monotonic() + PATIENCE
    while stopped(process):
        assert time.monotonic() < ends, f"{process} stays held"


def stopped(process):
    """Whether any thread of it is held: by a signal (T) or by a tracer (t)."""
    letters = set()
    for task in Path(f"/proc/{process.pid}/task").glob("*/stat"):
        with contextlib.suppress(OSError):
            letters.add(task.read_text().rpartition(")")[2].split()[0])
    return bool(letters & {"T", "t"})
