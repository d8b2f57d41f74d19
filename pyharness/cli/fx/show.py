"""``pyharness fx show SCRIPT``: each GraphModule that a program makes, as a table of its nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from pyharness.cli.fx.program import end, graph_option, program_verb, run, sections
from pyharness.cli.kit import output
from pyharness.report.graph_table import headline, table

if TYPE_CHECKING:
    from pyharness.cli.fx.program import Made, Program


@program_verb(
    ("every graph that the program makes, node by node", "pyharness fx show train.py"),
    ("which graphs there are", "pyharness fx show train.py --list"),
)
@graph_option
@click.option("--list", "listing", is_flag=True, help="Only which graphs there are.")
def command(*, program: Program, which: str | None, listing: bool) -> int:
    """Run SCRIPT and show the nodes of each GraphModule that it makes: op, target, module, shape, the user's line.

    The module is the one whose forward was running when the node was made, whatever traced it: empty for the root in
    JSON, null for the output. Shapes are those of the program's own first call.

    With --json, one graph is {"nodes": [{"name", "op", "target", "module", "line", "origin"}]}, several are {"graphs":
    [{"number", "name", "maker", "version", "nodes": [...]}]}.
    """
    made = run(program)
    if program.as_json:
        output.write_json(_json(made, which))
    elif listing:
        output.write_lines(headline(each) for each in made.chosen(which))
    else:
        output.write_lines(sections(made.chosen(which), table))
    return end(made)


def _json(made: Made, which: str | None) -> dict[str, Any]:
    chosen = made.chosen(which)
    if len(chosen) == 1:
        return chosen[0].graph.to_json()
    return {"graphs": [each.to_json() for each in chosen]}
