"""A program of tests/programs under both debuggers, driven from this process; its lines by their marks."""

import pyharness
from kit import builds
from kit.marks import line_of, place
from kit.paths import PROGRAMS


def source_line(mark, source=builds.CROSSING):
    """A line of the test extension."""
    return line_of(mark, source)


class Debugged:
    """One of tests/programs under the debugger: its places by mark, its output and its input."""

    def __init__(self, name, folder):
        self.script = str(PROGRAMS / name)
        self._output = folder / f"{name}.txt"
        self._stream = self._output.open("w")
        self.program = None

    def start(self, *arguments, **options):
        self.program = pyharness.debug(self.script, *arguments, stdout=self._stream, **options)
        return self.program

    def at(self, mark, condition=""):
        where = place(mark, self.script)
        return f"{where} if {condition}" if condition else where

    def line(self, mark):
        return line_of(mark, self.script)

    @property
    def output(self):
        return self._output.read_text()
