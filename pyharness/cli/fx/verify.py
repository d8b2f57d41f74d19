"""``pyharness fx verify``: whether a pass, or inductor, changes what a model computes, and at which node."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

import click

from pyharness.cli.fx.inputs import inputs_of
from pyharness.cli.grammar import completers
from pyharness.cli.grammar.torch_verb import TorchVerb
from pyharness.cli.kit import output
from pyharness.cli.kit.exits import no_exit
from pyharness.cli.kit.options import json_option, script_folder_option
from pyharness.model import given_numbers
from pyharness.model.errors import UsageError

if TYPE_CHECKING:
    from pyharness.model.results.compiled_verdict import CompiledVerdict
    from pyharness.model.results.verdict import Verdict

_EPILOG = "Names are MODULE:NAME or FILE.py:NAME."
_EXAMPLES = (
    ("does the pass keep what the model computes?", "pyharness fx verify net.py:Net passes.py:fuse"),
    (
        "on inputs of your choice, to three digits",
        "pyharness fx verify net.py:Net passes.py:fuse --inputs net.py:inputs --rtol 1e-3",
    ),
    (
        "does torch.compile keep it? which line of which kernel does not?",
        "pyharness fx verify net.py:Net --backend inductor --gradients -o wrong",
    ),
)
_STATUSES = (("0", "the results agree"), ("1", "they differ, and the first node that does is named"))


class _Options(TypedDict):
    """What both comparisons take."""

    rtol: float | None
    atol: float | None
    training: bool | None
    seed: int
    gradients: bool


@click.command(cls=TorchVerb, epilog=_EPILOG, examples=_EXAMPLES, statuses=_STATUSES)
@click.argument("original", metavar="ORIGINAL", shell_complete=completers.files)
@click.argument("transform", metavar="[TRANSFORM]", required=False, shell_complete=completers.files)
@click.option(
    "--backend",
    type=click.Choice(["inductor"]),
    help="In place of TRANSFORM: what torch.compile makes of ORIGINAL, kernel by kernel.",
)
@click.option("--inputs", metavar="NAME", help="A tuple of arguments, a dict by name, or a function that gives one.")
@click.option("--rtol", type=float, metavar="X", help="Relative tolerance; by dtype as in torch.testing if not given.")
@click.option("--atol", type=float, metavar="X", help="Absolute tolerance; likewise.")
@click.option("--train/--eval", "training", default=None, help="Run both in this mode; as they are if not given.")
@click.option("--gradients", is_flag=True, help="Compare what goes backward, too: to inputs and parameters.")
@script_folder_option("With --backend: where the script goes that runs the wrong graph")
@click.option("--no-script", is_flag=True, help="Write no script.")
@click.option("--seed", type=int, default=0, show_default=True, metavar="N", help="Of the random numbers.")
@json_option
def command(  # noqa: PLR0913  (one for each option)
    *,
    original: str,
    transform: str | None,
    backend: str | None,
    inputs: str | None,
    rtol: float | None,
    atol: float | None,
    training: bool | None,
    gradients: bool,
    folder: str | None,
    no_script: bool,
    seed: int,
    as_json: bool,
) -> int:
    """Run ORIGINAL and what TRANSFORM makes of it on the same inputs; name the first node that differs.

    ORIGINAL is a module class, a module, or a function that gives one. TRANSFORM takes its GraphModule (or Graph); one
    that takes no argument gives the transformed module. Without --inputs, `inputs` in ORIGINAL's file is taken.

    With --backend inductor, what torch.compile makes of ORIGINAL is compared: the first kernel, line, node and element
    that differ are named, and a script runs the graph with them by itself. Code is generated anew for this.
    """
    if (transform is None) == (backend is None):
        raise UsageError(
            "Compare ORIGINAL with what?" if backend is None else "TRANSFORM and --backend are two things to compare.",
            "Name a TRANSFORM, or --backend inductor.",
        )
    if backend is None and (folder or no_script):
        raise UsageError("A script is written with --backend alone.", "Leave -o and --no-script out.")
    given_numbers.tolerance("--rtol", rtol)
    given_numbers.tolerance("--atol", atol)
    given_numbers.whole("--seed", seed, given_numbers.SEEDS)
    options: _Options = {"rtol": rtol, "atol": atol, "training": training, "seed": seed, "gradients": gradients}
    if transform is not None:
        verdict: Verdict | CompiledVerdict = _transformed(original, transform, inputs, options)
    else:
        verdict = _compiled(original, inputs, options, folder=folder, script=not no_script)
    if as_json:
        output.write_json(verdict.to_json())
    else:
        output.write_lines(verdict.lines())
    return 0 if verdict.ok else 1


def _transformed(original: str, transform: str, inputs: str | None, options: _Options) -> Verdict:
    from pyharness.fx import verify
    from pyharness.fx.hashseeds.references import applied, is_pass, made_by, resolve
    from pyharness.host.running_now import running

    with no_exit():
        first, second = resolve(original), resolve(transform)
        module = made_by(first)
        args, kwargs = inputs_of(inputs, original)
        transformed = applied(second, module) if is_pass(second) else made_by(second)
        with running(f"A run of {original}, or of what {transform} makes of it,"):
            return verify(module, transformed, args, kwargs, **options)


def _compiled(
    original: str, inputs: str | None, options: _Options, *, folder: str | None, script: bool
) -> CompiledVerdict:
    from pyharness.fx import verify_compiled
    from pyharness.fx.hashseeds.references import made_by, resolve
    from pyharness.host.running_now import running

    with no_exit():
        module = made_by(resolve(original))
        args, kwargs = inputs_of(inputs, original)
        with running(f"A run of {original}, or of what inductor makes of it,"):
            return verify_compiled(module, args, kwargs, **options, folder=folder, script=script)
