"""``pyharness fx diff SCRIPT``: what a pass changed, side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from pyharness.cli.fx.program import end, program_verb, run
from pyharness.cli.kit import output
from pyharness.model.errors import UsageError
from pyharness.model.graph import Chosen
from pyharness.model.results.graph_diff import compare
from pyharness.report.graph_diff_text import side_by_side

if TYPE_CHECKING:
    from pyharness.cli.fx.program import Made, Program


@program_verb(
    ("what a pass changed in the graph that it recompiled", "pyharness fx diff train.py"),
    ("two graphs by number", "pyharness fx diff train.py --before 1 --after 2 --whole"),
)
@click.option("--before", metavar="GRAPH", help="The first one: GRAPH, or @VERSION of the only graph.")
@click.option("--after", metavar="GRAPH", help="The second one.")
@click.option("--whole", is_flag=True, help="Show also what is the same.")
def command(*, program: Program, before: str | None, after: str | None, whole: bool) -> int:
    """Run SCRIPT and compare two of its graphs, or one graph before and after it was recompiled, node by node.

    Without --before and --after: the first and the last version of the graph that was recompiled, or the only two
    graphs that there are. --before alone is compared with what that GraphModule became. With --json: {"before",
    "after", "same", "counts", "rows": [{"change", "parts", "before", "after"}]}; a change is same, renamed, moved,
    changed, removed or added.
    """
    made = run(program)
    first, second = _pair(made, before, after)
    diff = compare(first.graph, second.graph)
    if program.as_json:
        output.write_json({"before": first.title, "after": second.title, **diff.to_json()})
    else:
        width = output.columns()
        output.write_lines(side_by_side(diff, (first.title, second.title), width=width, whole=whole))
    return end(made)


def _pair(made: Made, before: str | None, after: str | None) -> tuple[Chosen, Chosen]:
    if after is not None:
        second = made.one(after)
        return (made.one(before) if before else Chosen(second.made, 1)), second
    if before is not None:
        first = made.one(before)
        return first, Chosen(first.made, first.made.count)
    recompiled = [each for each in made.graphs if each.count > 1]
    if len(recompiled) == 1:
        return Chosen(recompiled[0], 1), Chosen(recompiled[0], recompiled[0].count)
    if not recompiled and len(made.graphs) == 2:
        return Chosen(made.graphs[0], 1), Chosen(made.graphs[1], 1)
    raise UsageError(f"Which two? {made.script} made {_known(made)}.", "Choose: --before GRAPH --after GRAPH.")


def _known(made: Made) -> str:
    """The names of the graphs, as a person types them."""
    names = [f"{each.name}@1 to @{each.count}" if each.count > 1 else each.name for each in made.graphs]
    return ", ".join(names) if len(names) > 1 else f"one graph, {names[0]}, and never recompiled it"
