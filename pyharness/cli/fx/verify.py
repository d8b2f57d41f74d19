"""``pyharness fx verify ORIGINAL TRANSFORM``: whether a pass changes what a model computes, and at which node."""

from __future__ import annotations

from typing import Any

import click

from pyharness.cli.fx.inputs import inputs_of
from pyharness.cli.grammar import completers
from pyharness.cli.grammar.torch_verb import TorchVerb
from pyharness.cli.kit import output
from pyharness.cli.kit.exits import no_exit
from pyharness.cli.kit.options import json_option

_EPILOG = "Names are MODULE:NAME or FILE.py:NAME."
_EXAMPLES = (
    ("does the pass keep what the model computes?", "pyharness fx verify net.py:Net passes.py:fuse"),
    (
        "on inputs of your choice, to three digits",
        "pyharness fx verify net.py:Net passes.py:fuse --inputs net.py:inputs --rtol 1e-3",
    ),
)
_STATUSES = (("0", "the results agree"), ("1", "they differ, and the first node that does is named"))


@click.command(cls=TorchVerb, epilog=_EPILOG, examples=_EXAMPLES, statuses=_STATUSES)
@click.argument("original", metavar="ORIGINAL", shell_complete=completers.files)
@click.argument("transform", metavar="TRANSFORM", shell_complete=completers.files)
@click.option("--inputs", metavar="NAME", help="A tuple of arguments, a dict by name, or a function that gives one.")
@click.option("--rtol", type=float, metavar="X", help="Relative tolerance; by dtype as in torch.testing if not given.")
@click.option("--atol", type=float, metavar="X", help="Absolute tolerance; likewise.")
@click.option("--train/--eval", "training", default=None, help="Run both in this mode; as they are if not given.")
@click.option("--gradients", is_flag=True, help="Compare what goes backward, too: to inputs and parameters.")
@click.option("--seed", type=int, default=0, show_default=True, metavar="N", help="Of the random numbers.")
@json_option
def command(  # noqa: PLR0913  (one for each option)
    *,
    original: str,
    transform: str,
    inputs: str | None,
    rtol: float | None,
    atol: float | None,
    training: bool | None,
    gradients: bool,
    seed: int,
    as_json: bool,
) -> int:
    """Run ORIGINAL and what TRANSFORM makes of it on the same inputs; name the first node that differs.

    ORIGINAL is a module class, a module, or a function that gives one. TRANSFORM takes its GraphModule (or Graph); one
    that takes no argument gives the transformed module. Without --inputs, `inputs` in ORIGINAL's file is taken.
    """
    from pyharness.fx import verify
    from pyharness.fx.hashseeds.references import applied, is_pass, made_by, resolve
    from pyharness.host.running_now import running

    options: dict[str, Any] = {"rtol": rtol, "atol": atol, "training": training, "seed": seed, "gradients": gradients}
    with no_exit():
        first, second = resolve(original), resolve(transform)
        module = made_by(first)
        args, kwargs = inputs_of(inputs, original)
        transformed = applied(second, module) if is_pass(second) else made_by(second)
        with running(f"A run of {original}, or of what {transform} makes of it,"):
            verdict = verify(module, transformed, args, kwargs, **options)
    if as_json:
        output.write_json(verdict.to_json())
    else:
        output.write_lines(verdict.lines())
    return 0 if verdict.ok else 1
