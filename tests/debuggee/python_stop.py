"""A program stopped by debugpy under the harness, and the variables that a client of debugpy sees there."""

import os
from contextlib import contextmanager

import pyharness
from kit.builds import tensor_kernel
from kit.marks import place
from kit.paths import ROOT

PROGRAM = ROOT / "tests/programs/variables_zoo.py"


class Shown:
    """debugpy's view of the frame where the program stands."""

    def __init__(self, program):
        self._python = program._shell.python
        thread = program.stop.thread
        self._frame = self._python.raw_frames(thread)[0]["id"]
        scopes = self._python.request("scopes", {"frameId": self._frame})["scopes"]
        self.locals = self.named({"variablesReference": scopes[0]["variablesReference"]})

    def children(self, variable):
        asked = {"variablesReference": variable["variablesReference"]}
        return self._python.request("variables", asked)["variables"]

    def named(self, variable):
        return {child["name"]: child for child in self.children(variable)}

    def evaluate(self, expression, context="watch"):
        asked = {"expression": expression, "frameId": self._frame, "context": context}
        return self._python.request("evaluate", asked)

    def assign(self, variable, name, value):
        asked = {"variablesReference": variable["variablesReference"], "name": name, "value": value}
        return self._python.request("setVariable", asked)

    def inside(self, variable, *path):
        for name in path:
            children = self.named(variable)
            assert name in children, f"no {name} among {list(children)}"
            variable = children[name]
        return variable


@contextmanager
def stopped(folder, mark="forward"):
    """The program before the line with a mark."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    with (folder / "output.txt").open("w") as output:
        arguments = [str(tensor_kernel()), str(folder / "table.json")]
        with pyharness.debug(str(PROGRAM), *arguments, stdout=output) as program:
            stop = program.run_to(place(mark, PROGRAM))
            assert stop is not None, (folder / "output.txt").read_text()
            try:
                yield Shown(program)
            finally:
                program.kill()
