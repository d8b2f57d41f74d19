"""``pyharness step SCRIPT --at WHERE --into --print EXPR ...``: actions on the command line, done in their order."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from pyharness.cli.grammar import completers
from pyharness.cli.grammar.ordered import ORDER, OrderedCommand
from pyharness.cli.kit.options import (
    debug_kernels_option,
    eval_timeout_option,
    full_option,
    overwritten_option,
    program_json_option,
    program_options,
    ranks_option,
    raw_option,
)
from pyharness.cli.kit.script import command_of, job_of
from pyharness.model.element import parse as parse_element
from pyharness.model.errors import UsageError
from pyharness.model.evaluation import checked_timeout
from pyharness.model.where import SHAPES, folders_of, parse
from pyharness.session.plan import MOVES, LogPoint, Plan, Step

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyharness.debugger.starting.launch import Command
    from pyharness.model.errors import HarnessError

_EPILOG = """Actions are done in the order in which they are typed; --print and --stack look at the stop before them.
After the last one the debuggers let go and the program runs to its end. What follows -- belongs to the program. A
place may go on with ` if CONDITION`, in its own language, or, op: and node:, with ` when CONDITION`, on their
tensors; and then with ` hits N`, ` hits >= N` or ` hits % N`: the Nth time, from then on, each Nth time."""
_EXAMPLES = (
    (
        "stop at a module's line of generated code, go into its C++, look, come back",
        "pyharness step train.py --at fx:blocks.0.norm --into-native --stack --out",
    ),
    (
        "values of one call, with the program's own options",
        "pyharness step train.py --at native:my_op --print input -- --epochs 1",
    ),
    ("an op that makes a NaN", 'pyharness step train.py --at "op:aten::log when nan(out)" --stack --kill'),
    (
        "a value each tenth time, without a stop",
        'pyharness step train.py --log "py:train.py:30 hits % 10" "loss={loss.item()}"',
    ),
    ("where it crashes, for a script", "pyharness step train.py --json"),
)
_STATUSES = (
    ("0", "everything was done and the program ended with 0, or --kill ended it"),
    ("the program's", "everything was done and the program failed; 128 + N for signal N"),
    ("1", "something was not done: a place was not reached, the program ended before, a debugger failed"),
)


def _flag(name: str, text: str) -> click.Option:
    return click.Option([name], count=True, expose_value=False, help=text)


_ACTIONS = [
    click.Option(
        ["--at"],
        multiple=True,
        expose_value=False,
        metavar="WHERE",
        help="Run on to this place.",
        shell_complete=completers.places,
    ),
    _flag("--into", "Step into the first function of yours that the line runs, Python or native."),
    _flag("--into-native", "Step into the first native function of yours that the line runs."),
    _flag("--over", "Step to the next line."),
    _flag("--out", "Step out, to the caller or its next line."),
    _flag("--continue", "Run on to the next stop, or the end."),
    click.Option(
        ["--element"],
        multiple=True,
        expose_value=False,
        metavar="NODE[INDEX, ...]",
        help="In a kernel of torch.compile's, run on to an element of a node.",
    ),
    click.Option(["--print"], multiple=True, expose_value=False, metavar="EXPR", help="Evaluate in the stopped frame."),
    _flag("--stack", "Show the stack, both languages merged."),
]


def _failure(error: HarnessError) -> dict[str, Any]:
    from pyharness.cli.kit.transcript import failure

    return failure(error)


@click.command(
    cls=OrderedCommand,
    params=_ACTIONS,
    runs=True,
    failure=_failure,
    epilog=_EPILOG,
    sections=[("Places (WHERE)", SHAPES)],
    examples=_EXAMPLES,
    statuses=_STATUSES,
)
@program_options
@click.option(
    "--log",
    "logs",
    nargs=2,
    multiple=True,
    metavar="WHERE MESSAGE",
    help="Print MESSAGE, with {EXPR} evaluated, whenever WHERE is reached.",
)
@click.option("--include", multiple=True, metavar="PATTERN", help="Step into library code of this path, too.")
@ranks_option
@debug_kernels_option
@overwritten_option
@eval_timeout_option
@full_option
@click.option("--kill", is_flag=True, help="End the program after the last action.")
@program_json_option
@raw_option
@click.pass_context
def command(  # noqa: PLR0913, PLR0917  (one for each option)
    ctx: click.Context,
    words: tuple[str, ...],
    module: str | None,
    python: str,
    cwd: str | None,
    logs: tuple[tuple[str, str], ...],
    include: tuple[str, ...],
    eval_timeout: float,
    ranks: str | None,
    *,
    debug_kernels: bool,
    overwritten: bool,
    full: bool,
    kill: bool,
    as_json: bool,
    raw: bool,
) -> int:
    """Run SCRIPT to a place, and step on from there across the boundary between Python and C++."""
    from pyharness.cli.kit.transcript import play, play_on_ranks

    options = {"debug_kernels": debug_kernels, "overwritten": overwritten}
    job = None if ranks is None else job_of(words, module, python, cwd, ranks, **options)
    target = job.program if job else command_of(words, module, python, cwd)
    target = replace(target, debug_kernels=debug_kernels, overwritten=overwritten)
    checked_timeout(eval_timeout)
    folders = folders_of(target.file)
    points = tuple(LogPoint(parse(where, folders), message) for where, message in logs)
    steps = _steps(ctx.meta[ORDER], target)
    plan = Plan(target, steps, points, full=full, kill=kill, include=include, eval_timeout=eval_timeout)
    if job:
        return play_on_ranks(job, plan, as_json=as_json, raw=raw)
    return play(plan, as_json=as_json, raw=raw)


def _steps(order: Sequence[tuple[str, str | None]], target: Command) -> tuple[Step, ...]:
    """The steps that the options make; without any, the program runs to its first stop: a crash, perhaps."""
    steps: list[Step] = []
    moves = {move: move for move in MOVES}
    for name, value in order:
        if name in moves:
            where = parse(value or "", folders_of(target.file)) if name == "at" else None
            element = parse_element(value or "") if name == "element" else None
            steps.append(Step(moves[name], f"--{name.replace('_', '-')}{f' {value}' if value else ''}", where, element))
        elif name in {"print", "stack"}:
            if not steps:
                raise UsageError(f"--{name} comes before the first stop.", "Put --at WHERE or --into before it.")
            asked = {"prints": (*steps[-1].prints, value or "")} if name == "print" else {"stack": True}
            steps[-1] = replace(steps[-1], **asked)
    return tuple(steps) or (Step("continue", "the run"),)
