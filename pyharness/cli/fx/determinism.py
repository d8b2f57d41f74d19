"""``pyharness fx determinism TRANSFORM``: whether a pass gives the same code in every run."""

from __future__ import annotations

import click

from pyharness.cli import output

_EPILOG = """Names are MODULE:NAME or FILE.py:NAME. Exit status: 1 where two runs differ, with --strict also where the
order of a set is used; 2 for what cannot be meant. Example: pyharness fx determinism passes.py:fuse net.py:Net"""


@click.command(epilog=_EPILOG)
@click.argument("transform")
@click.argument("model", required=False)
@click.option("--seeds", type=click.IntRange(min=2), default=4, show_default=True, help="Processes, each with its own.")
@click.option("--repeats", type=click.IntRange(min=1), default=4, show_default=True, help="Runs in each process.")
@click.option("--timeout", type=float, default=600.0, show_default=True, help="Seconds for each process.")
@click.option("--strict", is_flag=True, help="Fail also for a set that is iterated over without harm so far.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def command(
    *, transform: str, model: str | None, seeds: int, repeats: int, timeout: float, strict: bool, as_json: bool
) -> int:
    """Run TRANSFORM on MODEL under several hash seeds, in fresh processes, and compare the code that it generates.

    MODEL is a module class, a module, or a function that gives one; without it, TRANSFORM takes no argument and gives
    a GraphModule. Its source is read, too: each use of a set's order is named with its line.
    """
    from pyharness.fx import determinism

    output.progress(f"running {transform} {seeds * repeats} times")
    found = determinism(transform, model, seeds=range(seeds), repeats=repeats, timeout=timeout)
    if as_json:
        output.write_json(found.to_json())
    else:
        output.write_lines(found.lines())
    return 0 if (found.strict if strict else found.ok) else 1
