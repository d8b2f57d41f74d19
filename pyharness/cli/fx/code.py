"""``pyharness fx code SCRIPT``: the code that torch.fx generated, with the user's lines beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyharness.cli.fx.program import end, graph_option, program_verb, run, sections
from pyharness.cli.kit import output
from pyharness.report.graph_code import code_lines, code_table

if TYPE_CHECKING:
    from pyharness.cli.fx.program import Program


@program_verb(
    ("your line beside each generated one", "pyharness fx code train.py"),
    ("what a pass made of it, before and after", "pyharness fx code train.py --graph Net@1"),
)
@graph_option
def command(*, program: Program, which: str | None) -> int:
    """Run SCRIPT and print the generated forward of each GraphModule that it makes.

    Beside each statement: the module that it is from, and the user's line, with its text. What only frees a value is
    left out. With --json: {"graphs": [{"number", "name", "file", "lines": [{"line", "text", "node", "module", "origin",
    "source"}]}]}.
    """
    made = run(program)
    if program.as_json:
        chosen = made.chosen(which)
        graphs = [
            {"file": each.graph.file, "lines": [line.to_json() for line in code_lines(each.graph)]} for each in chosen
        ]
        heads = [{"number": each.made.number, "name": each.made.name, "version": each.version} for each in chosen]
        output.write_json({"graphs": [{**head, **graph} for head, graph in zip(heads, graphs, strict=True)]})
    else:
        output.write_lines(sections(made.chosen(which), code_table))
    return end(made)
