"""Writes the folder that runs a wrong graph by itself: inductor's wrapper as it was generated, with its inputs."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from pyharness.fx.verifying.differences import Tolerance
from pyharness.fx.verifying.kernels.judging import TIMES, Judge
from pyharness.host.state import StateError, state_dir
from pyharness.model.errors import HarnessError
from pyharness.model.results.compiled_verdict import Reproduction

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from pyharness.fx.inductor.watching import Lowered
    from pyharness.model.results.compiled_verdict import KernelFault

_TIMEOUT = 300.0
_UNOPTIMIZED = ", without optimization, so that\na debugger comes to their lines one after the other"
"""What the script says of its kernels unless they are wrong with optimization alone."""


def reproduction(
    lowered: Lowered, inputs: Sequence[Any], fault: KernelFault, folder: str | os.PathLike[str] | None
) -> Reproduction:
    """Write it, and run it once to see whether it fails; ``HarnessError`` where it cannot be written."""
    try:
        path = Path(folder).absolute() if folder is not None else state_dir("verify") / _name(fault)
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        script = path / "reproduce.py"
        script.write_text(_shipped(), encoding="utf-8")
        shutil.rmtree(path / "cache", ignore_errors=True)
        (path / "wrapper.py").write_text(lowered.text, encoding="utf-8")
        torch.save({"inputs": list(inputs), "results": _results(lowered, inputs)}, path / "data.pt")
    except StateError as error:
        raise HarnessError(error.message, "Name another folder.") from error
    except (OSError, RuntimeError) as error:  # torch's writer has errors of its own
        said = getattr(error, "strerror", None) or str(error).split("\n")[0]
        raise HarnessError(f"The script cannot be written: {said}.", "Name another folder.") from error
    fails, said = _tried(script)
    if not fails:  # what optimization makes wrong is wrong with it alone
        script.write_text(_shipped(optimized=True), encoding="utf-8")
        fails, said = _tried(script)
    return Reproduction(str(script), fails, said, _step(script, fault))


def _name(fault: KernelFault) -> str:
    return re.sub(r"\W+", "_", f"{fault.kernel}_{fault.node}")[:80]


def _step(script: Path, fault: KernelFault) -> str:
    """What goes to the fault: the line of the kernel, as the script compiles it, or that of the wrapper."""
    place = f"fx:{fault.node}"
    if fault.file != fault.wrapper:
        text = Path(fault.file).read_text(encoding="utf-8")
        copies = (script.parent / "cache").rglob("*.cpp")
        place = next((f"{each}:{fault.line}" for each in copies if each.read_text(encoding="utf-8") == text), place)
    return f"pyharness step {shlex.quote(str(script))} --at {shlex.quote(place)} --stack"


def _results(lowered: Lowered, inputs: Sequence[Any]) -> dict[int, dict[str, torch.Tensor]]:
    """What the graph computes of its inputs, by the number of the result."""
    nodes = list(lowered.graph.graph.nodes)
    given = dict(zip((node for node in nodes if node.op == "placeholder"), inputs))  # noqa: B905  (CPython 3.9)
    judge, found = Judge(lowered.graph, given), {}
    outputs = nodes[-1].args[0]
    for number, node in enumerate(outputs if isinstance(outputs, (tuple, list)) else (outputs,)):
        if not isinstance(node, torch.fx.Node) or node.op != "call_function":
            continue
        with torch.no_grad():
            expected = judge.expected(node)
        if expected is not None:
            rtol, atol = Tolerance().of(expected.dtype)
            floating = expected.wide.is_floating_point()
            allowed = atol + rtol * expected.wide.abs() + TIMES * expected.rounding() if floating else expected.wide
            found[number] = {"value": expected.wide, "allowed": allowed}
    return found


def _shipped(*, optimized: bool = False) -> str:
    file = resources.files("pyharness.fx.verifying.kernels.folder").joinpath("reproduce.py")
    text = file.read_text(encoding="utf-8")
    if optimized:
        for part in ('os.environ["AOT_INDUCTOR_DEBUG_COMPILE"] = "1"\n', _UNOPTIMIZED):
            text = text.replace(part, "")
    return re.sub(r"  # (type: ignore|noqa).*", "", text)


def _tried(script: Path) -> tuple[bool, str]:
    """Run it, as a user would."""
    command = [sys.executable, str(script)]
    try:
        ran = subprocess.run(command, capture_output=True, text=True, timeout=_TIMEOUT, check=False)
    except subprocess.TimeoutExpired:
        return False, f"not ended after {_TIMEOUT:.0f} s"
    said = (ran.stdout.strip() or ran.stderr.strip() or f"exit status {ran.returncode}").split("\n")
    return ran.returncode == 1 and said[0].startswith("It fails"), said[-1]
