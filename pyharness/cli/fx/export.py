"""``pyharness fx export SCRIPT``: one of a program's graphs as a package."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from pyharness.cli.fx.program import end, graph_option, program_verb, run
from pyharness.cli.kit import output
from pyharness.cli.kit.files import check_name, check_new_folder
from pyharness.model.errors import HarnessError, UsageError
from pyharness.model.package_folder import check_package_folder
from pyharness.model.text.styled_line import Line

if TYPE_CHECKING:
    from pyharness.cli.fx.program import Program


@program_verb(
    ("a package that imports without the program", "pyharness fx export train.py -o net_package"),
    (
        "one of several graphs, of a program that needs its ops",
        "pyharness fx export train.py --graph 1 -o net_package --import my_ops",
    ),
)
@graph_option
@click.option("-o", "--output", "folder", metavar="FOLDER", required=True, help="The package to write.")
@click.option("--import", "imports", metavar="MODULE", multiple=True, help="Import it first: it registers ops.")
@click.option("--overwrite", is_flag=True, help="Replace what an export wrote there before.")
def command(*, program: Program, which: str | None, folder: str, imports: tuple[str, ...], overwrite: bool) -> int:
    """Run SCRIPT and write one of its graphs, as it is at the end, as an importable package with its parameters.

    `from FOLDER import load; model = load()` needs torch and what the graph itself calls. The code is what torch.fx
    generated, commented with module paths and the user's lines; there is no pickled code in it.
    """
    if which and "@" in which:
        raise UsageError("Only the last version of a graph can be exported.", "Leave @VERSION away.")
    check_name("--output", folder)
    check_new_folder(folder)
    to = Path(folder).absolute()
    check_package_folder(to, overwrite=overwrite)
    wanted = {"graph": which or "", "to": str(to), "imports": list(imports), "overwrite": overwrite}
    made = run(program, wanted)
    if "message" in made.exported:
        error = HarnessError(made.exported["message"], made.exported["remedy"])
        error.exit_code = made.status or error.exit_code
        raise error
    if program.as_json:
        output.write_json(made.exported)
    else:
        name, package = made.exported["name"], Path(made.exported["folder"]).name
        output.write_lines([Line(f"{folder}: from {package} import load  # makes a {name}")])
    return end(made)
