"""``pyharness fx draw SCRIPT``: graphs as a page to look at in a browser."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from pyharness.cli.fx.program import end, graph_option, program_verb, run
from pyharness.cli.kit import output
from pyharness.cli.kit.files import check_outputs, write_file
from pyharness.model.errors import UsageError
from pyharness.report.graph_html import graph_page

if TYPE_CHECKING:
    from pyharness.cli.fx.program import Program


_PAGES = {"", ".html", ".htm", ".xhtml"}
"""How the name of a page may end: a viewer goes by it."""


@program_verb(
    ("train.graphs.html, to open in a browser", "pyharness fx draw train.py"),
    ("one graph, to a file of your choice", "pyharness fx draw train.py --graph 1 -o net.html"),
)
@graph_option
@click.option("-o", "--output", "file", metavar="FILE", help="The page; beside you, named after SCRIPT, if not said.")
def command(*, program: Program, which: str | None, file: str | None) -> int:
    """Run SCRIPT and draw the graphs that it makes, as one HTML file that needs nothing else.

    Nodes show op, generated line, module and shape, and lie in boxes of the modules that made them; click, search and
    zoom. What torch.compile's inductor compiled is drawn a second time, in boxes of its kernels. --json says where the
    file is and which graphs it has.
    """
    file = file if file is not None else f"{Path(program.command.script).stem}.graphs.html"
    check_outputs({"--output": file}, program.command.files())
    if Path(file).suffix.lower() not in _PAGES and not Path(file).is_char_device():
        raise UsageError(f"What is drawn is a page, and {file} is no name of one.", "Name a file that ends in .html.")
    made = run(program, kernels=True)
    chosen = made.chosen(which)
    text = graph_page([(each.title, each.made.maker, each.graph) for each in chosen], Path(made.script).name)
    line = write_file(file, text, "open it in a browser")
    if program.as_json:
        output.write_json({"file": str(Path(file).absolute()), "graphs": [each.title for each in chosen]})
    else:
        output.write_lines([line])
    return end(made)
