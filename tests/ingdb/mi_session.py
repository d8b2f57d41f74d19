"""A program with gdb attached as the debugger does it: non-stop, its stops awaited one by one."""

import os
import queue
import subprocess
import threading

from kit import builds, marks
from kit.paths import PROGRAMS
from pyharness.debugger.native.link import GdbLink
from pyharness.debugger.native.side import NativeSide
from pyharness.model.user_code import UserCode
from pyharness.protocol.mi import Break

SOURCE = PROGRAMS / "native_capable.cpp"
_PATIENCE = 20


def line_of(mark, source=SOURCE):
    return marks.line_of(mark, source)


def capable(*flags):
    """The program of many faults, compiled."""
    return builds.compiled(SOURCE, "".join(flags).replace("-", "_"), "-g", "-O0", "-pthread", *flags)


class Attached:
    """A process that says when it is ready, and gdb attached to it; ends both."""

    def __init__(self, command, environment=None):
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=os.environ | (environment or {}),
        )
        self._stops = queue.SimpleQueue()
        self._lines = queue.SimpleQueue()
        self._listener = threading.Thread(target=self._listen)
        self._listener.start()
        code = UserCode()
        self.native = NativeSide(GdbLink(self._notice, code), code)

    def _notice(self, notice):
        if notice is None or notice.kind == "stopped":
            self._stops.put(notice)

    def _listen(self):
        for line in self.process.stdout:
            self._lines.put(line.decode().rstrip("\n"))

    def __enter__(self):
        self.native.prepare()
        assert self.heard() == "ready"
        self.native.attach(self.process.pid)
        self.native.load_symbols()
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.native.close(let_go=False)
        self.process.wait()
        self._listener.join()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            stream.close()

    def say(self, text):
        """What the program is to do."""
        self.process.stdin.write(text.encode())
        self.process.stdin.flush()

    def heard(self):
        """The program's next line of output; what was said with gdb where none comes."""
        try:
            return self._lines.get(timeout=_PATIENCE)
        except queue.Empty:
            raise AssertionError(self.story()) from None

    def stop(self, user_breakpoints=()):
        """The next stop that means something: its reason, its thread, the record."""
        while True:
            notice = self._stops.get(timeout=_PATIENCE)
            assert notice is not None, self.story()
            if "thread-id" not in notice.values:
                raise AssertionError(f"the program ended: {notice.values}\n{self.story()}")
            thread = self.native.link.lwp_of(str(notice.values["thread-id"]))
            reason = self.native.stops.reason_of(notice, thread, lambda number: number in user_breakpoints)
            if reason:
                return reason, thread, notice

    def run_to(self, function, letter):
        """Tell the program ``letter`` and stop in ``function``; the thread."""
        numbers = self.native.ask(Break(function)).numbers
        assert numbers, self.story()
        self.say(letter)
        reason, thread, _ = self.stop(numbers)
        assert reason == "breakpoint", self.story()
        self.native.delete(numbers)
        return thread

    def story(self):
        """What was said with gdb."""
        return "\n".join(self.native.transcript[-60:])
