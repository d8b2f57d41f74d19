"""``pyharness fx graph SCRIPT``: a graph drawn with characters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyharness.cli.fx.program import end, graph_option, program_verb, run, sections
from pyharness.cli.kit import output
from pyharness.report.graph_rails import drawing

if TYPE_CHECKING:
    from pyharness.cli.fx.program import Program
    from pyharness.model.graph import Chosen


@program_verb(
    ("which value goes where", "pyharness fx graph train.py"),
)
@graph_option
def command(*, program: Program, which: str | None) -> int:
    """Run SCRIPT and draw each GraphModule that it makes, with characters: values run on rails from node to use.

    With --json: {"graphs": [{"number", "name", "nodes": [{"name", "inputs", "shape", "module"}]}]}.
    """
    made = run(program)
    if program.as_json:
        output.write_json({"graphs": [_json(each) for each in made.chosen(which)]})
    else:
        output.write_lines(sections(made.chosen(which), drawing))
    return end(made)


def _json(chosen: Chosen) -> dict[str, Any]:
    nodes = [
        {"name": node.name, "inputs": list(node.inputs), "shape": node.shape, "module": node.module}
        for node in chosen.graph.nodes
    ]
    return {**chosen.to_json(), "nodes": nodes}
