"""Writes the folder that reproduces a fault, and runs it to see whether it does."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from pyharness.fx.bisecting.cases import storable
from pyharness.fx.bisecting.folder.tracing import Tracer
from pyharness.fx.bisecting.graph_text import TRACED_TEXT, built_text, traces_to_same
from pyharness.fx.bisecting.names import Names
from pyharness.fx.bisecting.passes import BisectError
from pyharness.fx.exporting import export
from pyharness.host.state import StateError, state_dir
from pyharness.model.results.bad_pass import Script

if TYPE_CHECKING:
    from torch.fx import GraphModule

    from pyharness.fx.bisecting.checks import Check
    from pyharness.fx.bisecting.passes import Pass

RUNNING = "PYHARNESS_REPRODUCING"
"""Set while a script runs to be tried: one that imports a module which searches must not start another."""
_TIMEOUT = 300.0
_UNSTEADY_ATTEMPTS = 100


def folder_for(name: str, folder: str | os.PathLike[str] | None) -> Path:
    """Where the script goes: a folder of the user's, else one of the private state folder's, by the pass's name."""
    plain = re.sub(r"\W+", "_", name)[:60].strip("_") or "pass"
    try:
        path = Path(folder).absolute() if folder is not None else state_dir("bisect") / plain
    except StateError as error:
        raise BisectError(error.message, "Name another folder=.") from error
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise BisectError(f"The folder {path} cannot be made: {error.strerror}.", "Name another folder=.") from error
    return path


class Writer:
    """The files of one fault."""

    def __init__(self, folder: Path, module: GraphModule, inputs: tuple[Any, ...]) -> None:
        self._folder = folder
        self._module = module
        self._inputs = inputs
        self.notes: list[str] = []

    def write(self, bad: Pass, check: Check, *, unsteady: bool) -> Script:
        """The folder; the graph as code that is traced where that fails as it should, else built node by node."""
        export(self._module, self._folder / "graph_before", overwrite=True)
        names = Names()
        for name in ("reproduce.py", "tracing.py"):
            self._put(name, _shipped(name))
        self._put("the_pass.py", _pass_text(bad, check, names, unsteady=unsteady))
        self.notes += [f"the script lacks {missing}: it has no name to import" for missing in names.missing]
        data = {"inputs": self._inputs if storable(self._inputs) else (), "names": names.tensors}
        torch.save(data, self._folder / "data.pt")
        traced = traces_to_same(self._module, Tracer())
        if traced:
            self._put("the_graph.py", TRACED_TEXT)
        else:
            self._build()
        if names.missing:
            return Script(str(self._folder / "reproduce.py"), fails=False, said="write what it lacks into the_pass.py")
        script = self._tried()
        if traced and not script.fails:
            self._build()
            script = self._tried()
        return script

    def _build(self) -> None:
        names = Names()
        self._put("the_graph.py", built_text(self._module, names))
        self.notes += [f"the script lacks {missing}" for missing in names.missing]

    def _tried(self) -> Script:
        """Run it, as a user would."""
        file = self._folder / "reproduce.py"
        if os.environ.get(RUNNING):
            return Script(str(file), fails=False, said="not run inside of another reproduction")
        command = [sys.executable, str(file)]
        environment = os.environ | {RUNNING: "1"}
        try:
            ran = subprocess.run(
                command, env=environment, capture_output=True, text=True, timeout=_TIMEOUT, check=False
            )
        except subprocess.TimeoutExpired:
            return Script(str(file), fails=False, said=f"not ended after {_TIMEOUT:.0f} s")
        said = (ran.stdout.strip() or ran.stderr.strip()).split("\n")
        return Script(str(file), fails=ran.returncode == 1 and said[0].startswith("It fails"), said=said[-1])

    def _put(self, name: str, text: str) -> None:
        try:
            (self._folder / name).write_text(text, encoding="utf-8")
        except OSError as error:
            raise BisectError(
                f"{self._folder / name} cannot be written: {error.strerror}.", "Name another folder."
            ) from error


def _shipped(name: str) -> str:
    """A file of ours, without what only our own checks read."""
    text = resources.files("pyharness.fx.bisecting.folder").joinpath(name).read_text(encoding="utf-8")
    return re.sub(r"  # (type: ignore|noqa).*", "", text)


_TEXT = '''"""The pass {name}, and the check if there is one; edit it here to try a fix, unless it is imported."""

from __future__ import annotations

import sys
from pathlib import Path

import torch

DATA = torch.load(Path(__file__).with_name("data.pt"), weights_only=True)
{lines}
PASS = {call}
TAKES_GRAPH = {takes_graph}
CHECK = {check}
COMPARES = {compares}
ATTEMPTS = {attempts}
MISSING = {missing!r}
'''


def _lines(names: Names) -> str:
    lines = list(names.lines())
    return "".join(f"{line}\n" for line in (*lines, *(["", ""] if "" in lines else [])))


def _pass_text(bad: Pass, check: Check, names: Names, *, unsteady: bool) -> str:
    call = names.expression(bad.call)
    if call is None:
        names.missing.append(f"the pass {bad.name}")
    judge = names.expression(check.given)
    if judge is None:
        names.missing.append("the check")
    return _TEXT.format(
        name=bad.name,
        lines=_lines(names),
        call=call,
        takes_graph=bad.takes == "graph",
        check=judge,
        compares=check.compares,
        attempts=_UNSTEADY_ATTEMPTS if unsteady else 1,
        missing=", ".join(names.missing),
    )
