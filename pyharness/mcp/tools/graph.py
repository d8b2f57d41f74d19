"""``graph``: what torch.fx and torch.compile made of a program."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from pyharness.mcp import verbs
from pyharness.mcp.registry import Answer, Asked, tool
from pyharness.mcp.verbs import VerbTold
from pyharness.model.errors import UsageError

if TYPE_CHECKING:
    from pyharness.mcp.service import Service

What = Literal["list", "nodes", "code", "draw", "diff", "compiled", "kernels"]
_VERBS: dict[What, list[str]] = {
    "list": ["fx", "show", "--list"],
    "nodes": ["fx", "show"],
    "code": ["fx", "code"],
    "draw": ["fx", "graph"],
    "diff": ["fx", "diff"],
    "compiled": ["fx", "compiled"],
    "kernels": ["fx", "compiled", "--lines"],
}
_ONE_GRAPH = ("nodes", "code", "draw")


class Program(Asked):
    """A program that is run for an answer about all of it."""

    script: str = Field(default="", description="A Python file to run, from cwd.")
    module: str = Field(default="", description="In place of script: a module, as of python -m.")
    args: list[str] = Field(default=[], description="What the program gets as sys.argv[1:].")
    cwd: str = Field(default="", description="The folder that it runs in: the first root if not given.")
    python: str = Field(default="", description="Its interpreter, if not that of its environment.")
    timeout_s: float = Field(default=120, gt=0, le=3600)


class Graph(Program):
    """Which program, and what of its graphs."""

    what: What = Field(
        default="nodes",
        description="list: which graphs there are. nodes, code, draw: of each GraphModule, with the user's lines. diff:"
        " what a pass changed. compiled: torch.compile's graphs, breaks, recompilations and the guards that failed."
        " kernels: inductor's C++ kernels, each line with its node.",
    )
    graph: str = Field(default="", description="One graph: its number or name, @VERSION, as list has them.")


@tool("graph", "Show graphs and kernels", VerbTold, harm="runs")
async def graph(service: Service, asked: Graph) -> Answer:
    """Run a program to its end, and show the graphs and kernels that torch.fx and torch.compile made on the way."""
    words = [*_VERBS[asked.what]]
    if asked.graph:
        if asked.what not in _ONE_GRAPH:
            raise UsageError(f"{asked.what} takes no graph.", f"These do: {', '.join(_ONE_GRAPH)}.")
        words += ["--graph", asked.graph]
    meanings = {0: "shown", 1: "the program failed, or made nothing of the kind"}
    folder = service.roots.folder(asked.cwd)
    words += program_words(service, asked, folder)
    return await verbs.run(service, words, folder, meanings, asked.timeout_s, beside=True)


def program_words(service: Service, asked: Program, folder: str, *, dashes: bool = True) -> list[str]:
    """The program of a command line: its interpreter, itself, and what belongs to it."""
    if bool(asked.script) == bool(asked.module):
        raise UsageError("Which program?", "Name one of script, module.")
    if asked.script:
        service.roots.inside(asked.script, folder)
    python = service.roots.python(asked.python, folder, asked.script)
    words = ["--python", python] if python else []
    script = f"./{asked.script}" if asked.script.startswith("-") else asked.script  # a file, and no option of ours
    words += ["-m", asked.module] if asked.module else [script]
    return [*words, *(["--", *asked.args] if dashes and asked.args else asked.args)]
