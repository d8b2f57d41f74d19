"""``pyharness fx bisect MODEL PASSES``: the first bad pass of a list, and a folder that shows it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click

from pyharness.cli.fx.inputs import inputs_of
from pyharness.cli.grammar import completers
from pyharness.cli.grammar.torch_verb import TorchVerb
from pyharness.cli.kit import output
from pyharness.cli.kit.exits import no_exit
from pyharness.cli.kit.options import json_option, script_folder_option

_EPILOG = "Names are MODULE:NAME or FILE.py:NAME."
_EXAMPLES = (
    (
        "which pass breaks the model, and a folder that shows it",
        "pyharness fx bisect net.py:Net passes.py:PASSES -o bad_pass",
    ),
    ("judged by a function of your own", "pyharness fx bisect net.py:Net passes.py:PASSES --check checks.py:is_good"),
)
_STATUSES = (("0", "all passes are good"), ("1", "a bad pass was found"))


@click.command(cls=TorchVerb, epilog=_EPILOG, examples=_EXAMPLES, statuses=_STATUSES)
@click.argument("model", metavar="MODEL", shell_complete=completers.files)
@click.argument("passes", metavar="PASSES", shell_complete=completers.files)
@click.option("--inputs", metavar="NAME", help="A tuple of arguments, a dict by name, or a function that gives one.")
@click.option("--check", metavar="NAME", help="A function of the transformed GraphModule; false or raising is bad.")
@script_folder_option("Where the script goes")
@click.option("--no-script", is_flag=True, help="Write no script.")
@click.option("--no-shrink", is_flag=True, help="Do not look for a smaller graph (then there is no script).")
@click.option("--no-sweep", is_flag=True, help="Only bisect: do not look for a fault that a later pass hides.")
@click.option(
    "--limit",
    type=click.IntRange(0, 1_000_000),
    default=400,
    show_default=True,
    metavar="N",
    help="Smaller graphs to try.",
)
@json_option
def command(  # noqa: PLR0913  (one for each option)
    *,
    model: str,
    passes: str,
    inputs: str | None,
    check: str | None,
    folder: str | None,
    no_script: bool,
    no_shrink: bool,
    no_sweep: bool,
    limit: int,
    as_json: bool,
) -> int:
    """Run more or fewer of PASSES on MODEL, and name the first one after which it is bad.

    MODEL is a module class, a module, or a function that gives one; PASSES a list of passes, a dict of them by name, a
    PassManager, or a function that gives one of these. Without --check, the result is compared with MODEL's own. The
    graph is then shrunk to a few nodes on which the pass still fails, and written with a script that shows it.
    """
    from pyharness.fx import bisect
    from pyharness.fx.bisecting.passes import AllGoodError
    from pyharness.fx.hashseeds.references import is_pass, made_by, resolve
    from pyharness.host.running_now import running

    here = Path.cwd()
    folder = str(here / folder) if folder else folder  # a pass may change the folder that it is named from
    with no_exit():
        module, listed = made_by(resolve(model)), resolve(passes)
        if callable(listed) and not hasattr(listed, "passes") and not is_pass(listed):
            listed = listed()
        judge = resolve(check) if check else None
        args, kwargs = inputs_of(inputs, model) if inputs or judge is None else ((), {})
    output.progress(f"running {passes}")
    options: dict[str, Any] = {"sweep": not no_sweep, "shrink": not no_shrink, "limit": limit, "script": not no_script}
    try:
        with no_exit(), running(f"A run of {model}, or of what a pass makes of it,"):
            bad = bisect(module, listed, args, kwargs, check=judge, folder=folder, **options)
            os.chdir(here)
    except AllGoodError as good:
        _say_good(good.message, as_json=as_json)
        return 0
    if as_json:
        output.write_json(bad.to_json())
    else:
        output.write_lines(bad.lines())
    return 1


def _say_good(message: str, *, as_json: bool) -> None:
    if as_json:
        output.write_json({"name": None, "message": message})
    else:
        output.write(message)
