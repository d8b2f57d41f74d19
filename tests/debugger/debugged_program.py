"""A program of tests/programs under both debuggers, driven from this process; its lines by their marks."""

from pathlib import Path

import crossing_build

import pyharness

ROOT = Path(__file__).parents[2]
PROGRAMS = ROOT / "tests" / "programs"


def line_of(mark, script):
    """The line with ``@mark``."""
    lines = Path(script).read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if line.endswith(f"@{mark}"))


def source_line(mark, source=crossing_build.SOURCE):
    """A line of the test extension."""
    lines = source.read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if line.endswith(f"// @{mark}"))


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
        place = f"py:{self.script}:{line_of(mark, self.script)}"
        return f"{place} if {condition}" if condition else place

    def line(self, mark):
        return line_of(mark, self.script)

    @property
    def output(self):
        return self._output.read_text()
