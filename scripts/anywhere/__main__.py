"""Steps from Python into C++ and out in a program of another environment, and prints a row of what happened.

usage: python scripts/anywhere PYHARNESS PYTHON      where PYTHON has torch, or nanobind
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
NANOBIND = HERE.parent.parent / "tests" / "programs" / "kinds" / "nanobind_kind.cpp"
ASK = """
import json, sys, sysconfig, importlib.util as u
told = {"version": sys.version.split()[0], "include": sysconfig.get_paths()["include"]}
for name in ("torch", "nanobind"):
    try:
        module = __import__(name)
        told[name] = module.__version__, module.__path__[0]
    except ImportError:
        told[name] = None
print(json.dumps(told))
"""
BUILD = """
import sys
from torch.utils.cpp_extension import load
load("own_op", [sys.argv[1]], build_directory=sys.argv[2], is_python_module=False,
     extra_cflags=["-g", "-O0", "-DAT_PER_OPERATOR_HEADERS"])
"""
Facts = dict[str, Any]


def main() -> None:
    """Build what the environment's program calls, step, and say how it went."""
    pyharness, python = sys.argv[1:]
    facts: Facts = json.loads(output(python, "-c", ASK))
    with tempfile.TemporaryDirectory() as folder:
        stops = with_torch(pyharness, python, folder) if facts["torch"] else nanobind(pyharness, python, folder, facts)
    other = f"torch {facts['torch'][0]}" if facts["torch"] else f"nanobind {facts['nanobind'][0]}"
    print(f"| {facts['version']} | {other} | {' → '.join(stops)} |")


def with_torch(pyharness: str, python: str, folder: str) -> list[str]:
    """From the node of a generated line into the op's kernel, and out to the next node."""
    output(python, "-c", BUILD, HERE / "own_op.cpp", folder)
    words = ("--at", "fx:scaled", "--into", "--out", HERE / "with_torch.py", "--", Path(folder) / "own_op.so")
    stops = stepped(pyharness, python, *words)
    expect(stops, [("python", "forward"), ("native", "scale_cpu"), ("python", "forward")])
    if not (stops[0]["fx"] and stops[2]["fx"] and stops[2]["line"] == stops[0]["line"] + 1):
        sys.exit(f"The steps did not end at nodes of the graph: {stops}")
    return ["`fx:` place", "into C++", "out at the next node", compiled(pyharness, python, folder)]


def compiled(pyharness: str, python: str, folder: str) -> str:
    """From the wrapper's line of a node into the kernel that torch.compile made, and out; then all kernels' maps."""
    os.environ["TORCHINDUCTOR_CACHE_DIR"] = str(Path(folder) / "inductor")
    program = HERE / "compiled.py"
    words = ("--debug-kernels", "--at", "fx:blocks.0", "--into-native", "--out", program)
    stops = stepped(pyharness, python, *words)
    expect(stops, [("python", "call"), ("native", "cpp_fused_add_gelu_0"), ("python", "call")])
    if not (stops[1]["fx"] and stops[1]["fx"]["module"] == "blocks.0"):
        sys.exit(f"The kernel's line has no node of blocks.0: {stops[1]}")
    told = json.loads(output(pyharness, "fx", "compiled", "--python", python, "--json", program))
    kernels = [kernel for wrapper in told["wrappers"] for kernel in wrapper["kernels"]]
    modules = {line["module"] for kernel in kernels for line in kernel["lines"]}
    if not (len(kernels) > 2 and all(kernel["lines"] for kernel in kernels) and {"blocks.0", "blocks.1"} <= modules):
        sys.exit(f"The kernels have no maps: {kernels}")
    return "into a kernel of torch.compile's"


def nanobind(pyharness: str, python: str, folder: str, facts: Facts) -> list[str]:
    """From a line of Python into the function that it calls, and out to the next line."""
    package = Path(facts["nanobind"][1])
    includes = [f"-I{each}" for each in (facts["include"], package / "include", package / "ext/robin_map/include")]
    words = ["-std=c++17", "-g", "-O0", "-fPIC", "-shared", "-fvisibility=hidden", *includes]
    sources = [NANOBIND, package / "src" / "nb_combined.cpp"]
    output(os.environ.get("CXX", "c++"), *words, *sources, "-o", Path(folder) / "nanobind_kind.so")
    program = HERE / "without_torch.py"
    line = next(number for number, text in enumerate(program.read_text().splitlines(), 1) if "@call" in text)
    stops = stepped(pyharness, python, "--at", f"py:{program}:{line}", "--into", "--out", program, "--", folder)
    expect(stops, [("python", "<module>"), ("native", "scaled"), ("python", "<module>")])
    if stops[2]["line"] != line + 1:
        sys.exit(f"The step out did not end on the next line: {stops[2]}")
    return ["`py:` place", "into C++", "out on the next line"]


def stepped(pyharness: str, python: str, *words: str | Path) -> list[Facts]:
    """The stops of ``pyharness step --json``."""
    stops: list[Facts] = json.loads(output(pyharness, "step", "--python", python, "--json", *words))["stops"]
    return stops


def expect(stops: list[Facts], wanted: list[tuple[str, str]]) -> None:
    """Exit where the steps ended elsewhere."""
    found = [(stop["language"], stop["function"].rpartition("::")[2].partition("(")[0]) for stop in stops]
    if found != wanted:
        sys.exit(f"The steps ended at {found}, not at {wanted}.")


def output(*command: str | Path) -> str:
    """What a command prints; an exit with all that it said where it fails."""
    bin_folder = Path(command[0]).parent  # torch asks for the ninja of its environment
    environment = os.environ | {"PATH": f"{bin_folder}:{os.environ['PATH']}"}
    environment.pop("VIRTUAL_ENV", None)
    done = subprocess.run(list(map(str, command)), env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


main()
