"""``pyharness fx verify ORIGINAL TRANSFORM``: whether a pass changes what a model computes, and at which node."""

from __future__ import annotations

from typing import Any

import click

from pyharness.cli import output
from pyharness.cli.fx.inputs import inputs_of

_EPILOG = """Names are MODULE:NAME or FILE.py:NAME. Exit status: 1 where the results differ; 2 for what cannot be meant.
Example: pyharness fx verify net.py:Net passes.py:fuse --inputs net.py:example"""


@click.command(epilog=_EPILOG)
@click.argument("original")
@click.argument("transform")
@click.option("--inputs", metavar="NAME", help="A tuple of arguments, a dict by name, or a function that gives one.")
@click.option("--rtol", type=float, help="Relative tolerance; by dtype as in torch.testing if not given.")
@click.option("--atol", type=float, help="Absolute tolerance.")
@click.option("--train/--eval", "training", default=None, help="Run both in this mode; as they are if not given.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of the random numbers.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def command(  # noqa: PLR0913  (one for each option)
    *,
    original: str,
    transform: str,
    inputs: str | None,
    rtol: float | None,
    atol: float | None,
    training: bool | None,
    seed: int,
    as_json: bool,
) -> int:
    """Run ORIGINAL and what TRANSFORM makes of it on the same inputs; name the first node that differs.

    ORIGINAL is a module class, a module, or a function that gives one. TRANSFORM takes its GraphModule (or Graph); one
    that takes no argument gives the transformed module. Without --inputs, `inputs` in ORIGINAL's file is taken.
    """
    from pyharness.fx import verify
    from pyharness.fx.hashseeds.references import applied, is_pass, made_by, resolve

    first, second = resolve(original), resolve(transform)
    module = made_by(first)
    args, kwargs = inputs_of(inputs, original)
    transformed = applied(second, module) if is_pass(second) else made_by(second)
    options: dict[str, Any] = {"rtol": rtol, "atol": atol, "training": training, "seed": seed}
    verdict = verify(module, transformed, args, kwargs, **options)
    if as_json:
        output.write_json(verdict.to_json())
    else:
        output.write_lines(verdict.lines())
    return 0 if verdict.ok else 1
