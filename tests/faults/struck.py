"""One cell of the fault table: a program, its debugger in a process of its own, and the strike."""

import contextlib
import os
import re
import select
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import fault_phases
from fault_phases import PHASES, SCRIPT
from processes import marked_with, parent, role_of, status

import pyharness
from kit.command import PYHARNESS

PATIENCE = 60
LOOK_AGAIN = 0.05
FRESH = "has: None"
NOISE = re.compile("Traceback|pydevd|Exception ignored|Fatal")
DEBUGGER = Path(fault_phases.__file__)


class Struck:
    """The program's input stays open until ``ends_right``; everything carries the state folder in its environment."""

    def __init__(self, door, phase, folder, environment):
        self.door, self.phase = door, PHASES[phase]
        self._name = phase
        self._environment = environment
        self._orders = folder / "orders"
        os.mkfifo(self._orders)
        self._order = os.open(self._orders, os.O_RDWR)  # what is written waits there for whoever opens it later
        self.said = ""
        self._told = threading.Condition()
        self._input, self._output = os.pipe(), os.pipe()
        self._open = True
        self.program = self._run_by_itself() if door == "attach" else None
        target = self.program.pid if self.program else SCRIPT
        command = [sys.executable, DEBUGGER, door, target, phase, self._orders]
        self.debugger = self._start(command)
        os.close(self._output[1])
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _start(self, command):
        return subprocess.Popen(
            [*map(str, command)],
            stdin=self._input[0],
            stdout=self._output[1],
            stderr=subprocess.STDOUT,
            start_new_session=True,
            env=self._environment,
        )

    def _run_by_itself(self):
        front = [*PYHARNESS, "run", "--name", "struck"]
        return self._start([*front, SCRIPT, self.phase.word])

    def _read(self):
        while data := os.read(self._output[0], 1 << 16):
            with self._told:
                self.said += data.decode(errors="replace")
                self._told.notify_all()
        os.close(self._output[0])

    def until(self, *words):
        """Wait until one of the words was said, by the program or by its debugger."""
        with self._told:
            came = self._told.wait_for(lambda: any(word in self.said for word in words), PATIENCE)
        assert came, f"none of {words} came:\n{self.story()}"

    def bring(self):
        """Wait until the debugger is in the phase; a program that blocks on its way there is fed.

        No other is: an expression that waits for input would take what is left of it, and end before the strike.
        """
        with self.feeding() if self.phase.word else contextlib.nullcontext():
            self.until("standing" if self.phase.then is None else "near" if self.phase.word else "going")
        if self.phase.word and self.phase.then:
            self.drain()
            self.go_on()
            self.until("going")
        if self._name == "running":
            self.until("begin")  # nothing had to stop for a debugger that is going
        if "Python expression" in self._name:
            self.until("doing an expression")
        return self

    @contextlib.contextmanager
    def feeding(self):
        """A line now and then for a program that reads, meanwhile."""
        enough = threading.Event()

        def feed():
            while not enough.wait(0.1):
                self.feed()

        feeder = threading.Thread(target=feed, daemon=True)
        feeder.start()
        try:
            yield
        finally:
            enough.set()
            feeder.join()

    @property
    def family(self):
        """Live processes by role."""
        roles = {}
        for process in marked_with(self._environment["PYHARNESS_HOME"]):
            if process.pid == self.debugger.pid:
                roles["harness"] = process
            elif process.role == "gdb" and role_of(parent(process.pid)) != "gdb":  # it forks to try what ptrace can do
                roles["gdb"] = process
            elif process.role == "program" if self.program is None else process.pid == self.program.pid:
                roles["program"] = process
        return roles

    def strike(self, part):
        """Let it die, and wait until it has; a program that is traced is gone when its tracer knows."""
        if part == "terminal":
            os.killpg(self.debugger.pid, signal.SIGHUP)
            self.debugger.wait(PATIENCE)
            return
        victim = self._there(part)
        victim.kill()
        if part == "harness":
            self.debugger.wait(PATIENCE)
        elif part == "gdb":
            victim.wait_for_end()

    def _there(self, part):
        """The live process; gdb may be on its way, as it is started when it is needed."""
        ends = time.monotonic() + PATIENCE
        while part not in (family := self.family):
            assert time.monotonic() < ends, f"no {part}:\n{self.story()}"
        return family[part]

    def go_on(self):
        """Give the debugger the order for which it waits, or will wait in a moment."""
        os.write(self._order, b"\n")

    def feed(self):
        """A line for a program that reads."""
        if self._open:
            os.write(self._input[1], b"\n")

    def drain(self):
        """Take back what was fed and is not read: what is to block would read it, and end before the strike."""
        while select.select([self._input[0]], [], [], 0)[0]:
            os.read(self._input[0], 4096)

    def debugger_ended(self):
        """Wait for the debugger's end; what it said of it."""
        while self.debugger.poll() is None:
            self.feed()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.debugger.wait(0.2)
        return self.debugger.returncode

    def alone(self, spared=()):
        """Wait until nothing but what is spared is left of it."""
        for role, process in self.family.items():
            if role not in spared:
                process.wait_for_end()

    def is_fresh(self):
        """Wait until nothing of a debugger is left in the program, which nobody but itself has cleared up."""
        self.until("begin")  # before that the question would end a program that comes to its first line only now
        with self.feeding(), self._told:
            ends = time.monotonic() + PATIENCE
            while FRESH not in self.said:
                assert time.monotonic() < ends, self.story()
                self.family["program"].kill(signal.SIGUSR1)
                self._told.wait_for(lambda: FRESH in self.said, LOOK_AGAIN)

    def next_session(self):
        """A debugger that comes now finds a fresh program: it stops where it is told to, and steps to the next line."""
        with self.feeding(), pyharness.attach(self.family["program"].pid) as program:
            stop = program.run_to(fault_phases.py("python"))
            assert (stop.reason, stop.frame.line) == ("breakpoint", fault_phases.marked("python"))
            assert program.over().frame.line == fault_phases.marked("native")
            assert program.run_to("native:held").frame.function == "crossing::held"
            assert program.out().frame.file == str(SCRIPT)

    def ends_right(self):
        """The program comes to its own end with all its work right, nothing of a debugger left and no word of ours."""
        process = self.family["program"]
        self.hang_up()
        process.wait_for_end()
        self._reader.join(PATIENCE)
        assert "right, left: None" in self.said, self.story()
        assert not NOISE.search(self.said), self.story()
        if self.program:
            assert self.program.wait(PATIENCE) == 7, self.story()

    def hang_up(self):
        """The program's input ends."""
        if self._open:
            self._open = False
            os.close(self._input[1])

    def story(self):
        """What was said and what there is, for a test that fails."""
        states = {role: (process, status(process.pid)) for role, process in self.family.items()}
        return f"{self.said}\n{states}"

    def end(self):
        """Let nothing be left by the test."""
        self.hang_up()
        for process in marked_with(self._environment["PYHARNESS_HOME"]):
            process.kill()
        for child in (self.debugger, self.program):
            if child:
                child.wait(PATIENCE)
        with contextlib.suppress(OSError):
            select.select([self._output[0]], [], [], 0)
        self._reader.join(PATIENCE)
        os.close(self._input[0])
        os.close(self._order)
