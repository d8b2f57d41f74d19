"""``pyharness fx determinism TRANSFORM``: whether a pass gives the same code in every run."""

from __future__ import annotations

import click

from pyharness.cli.grammar import completers
from pyharness.cli.grammar.torch_verb import TorchVerb
from pyharness.cli.kit import output
from pyharness.cli.kit.options import json_option
from pyharness.model import given_numbers

_EPILOG = "Names are MODULE:NAME or FILE.py:NAME."
_EXAMPLES = (
    ("does the pass give the same code in every run?", "pyharness fx determinism passes.py:fuse net.py:Net"),
    (
        "in CI, where harmless loops over sets are to fail as well",
        "pyharness fx determinism passes.py:fuse net.py:Net --strict",
    ),
)
_STATUSES = (("0", "all runs give the same code"), ("1", "two differ, or with --strict the order of a set is used"))


@click.command(cls=TorchVerb, epilog=_EPILOG, examples=_EXAMPLES, statuses=_STATUSES)
@click.argument("transform", metavar="TRANSFORM", shell_complete=completers.files)
@click.argument("model", metavar="[MODEL]", required=False, shell_complete=completers.files)
@click.option(
    "--seeds",
    type=click.IntRange(2, 1000),
    default=4,
    show_default=True,
    metavar="N",
    help="Processes, each with a hash seed of its own.",
)
@click.option(
    "--repeats",
    type=click.IntRange(1, 1_000_000),
    default=4,
    show_default=True,
    metavar="N",
    help="Runs in each process.",
)
@click.option(
    "--timeout", type=float, default=600.0, show_default=True, metavar="SECONDS", help="Patience with each process."
)
@click.option("--strict", is_flag=True, help="Fail also for a set that is iterated over without harm so far.")
@json_option
def command(
    *, transform: str, model: str | None, seeds: int, repeats: int, timeout: float, strict: bool, as_json: bool
) -> int:
    """Run TRANSFORM on MODEL under several hash seeds, in fresh processes, and compare the code that it generates.

    MODEL is a module class, a module, or a function that gives one; without it, TRANSFORM takes no argument and gives
    a GraphModule. Each use of a set's order in a run is named with its line.
    """
    from pyharness.fx import determinism

    given_numbers.seconds("--timeout", timeout)
    output.progress(f"running {transform} {seeds * repeats} times")
    found = determinism(transform, model, seeds=range(seeds), repeats=repeats, timeout=timeout)
    if as_json:
        output.write_json(found.to_json())
    else:
        output.write_lines(found.lines())
    return 0 if (found.strict if strict else found.ok) else 1
