"""``pyharness step SCRIPT --at WHERE --into --print EXPR ...``: actions on the command line, done in their order."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pyharness.cli.ordered import ORDER, OrderedCommand
from pyharness.cli.transcript import play
from pyharness.model.errors import UsageError
from pyharness.model.where import FORMS, folders_of, parse
from pyharness.session.plan import MOVES, Plan, Step, Target

if TYPE_CHECKING:
    from collections.abc import Sequence

_EPILOG = f"""{FORMS} It may end in " if CONDITION". --print and --stack look at the stop before them. After the last
action the debuggers let go and the program runs to its end. Exit status: the program's own when everything was done,
1 when not, 2 for a place or an option that does not exist."""


def _flag(name: str, text: str) -> click.Option:
    return click.Option([name], count=True, expose_value=False, help=text)


_ACTIONS = [
    click.Option(["--at"], multiple=True, expose_value=False, metavar="WHERE", help="Run on to this place."),
    _flag("--into", "Step into the first function of yours that the line runs, Python or native."),
    _flag("--into-native", "Step into the first native function of yours that the line runs."),
    _flag("--over", "Step to the next line."),
    _flag("--out", "Step out, to the caller or its next line."),
    _flag("--continue", "Run on to the next stop, or the end."),
    click.Option(["--print"], multiple=True, expose_value=False, metavar="EXPR", help="Evaluate in the stopped frame."),
    _flag("--stack", "Show the stack, both languages merged."),
]


@click.command(cls=OrderedCommand, params=_ACTIONS, epilog=_EPILOG)
@click.argument("words", metavar="SCRIPT [-- ARGS]...", nargs=-1, type=click.UNPROCESSED)
@click.option("-m", "module", metavar="MODULE", help="Run a module instead of a script.")
@click.option("--python", default="", metavar="PATH", help="The program's interpreter, if not this one.")
@click.option("--cwd", type=click.Path(exists=True, file_okay=False), help="The program's working folder.")
@click.option("--include", multiple=True, metavar="PATTERN", help="Step into library code of this path too.")
@click.option("--full", is_flag=True, help="Show the stack's plumbing frames too.")
@click.option("--kill", is_flag=True, help="End the program after the last action.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object; the program's output goes to stderr.")
@click.option("--raw", is_flag=True, help="Keep what differs from run to run: addresses and thread ids.")
@click.pass_context
def command(  # noqa: PLR0913  (one for each option)
    ctx: click.Context,
    words: tuple[str, ...],
    module: str | None,
    python: str,
    cwd: str | None,
    include: tuple[str, ...],
    *,
    full: bool,
    kill: bool,
    as_json: bool,
    raw: bool,
) -> int:
    """Run SCRIPT to a place, and step on from there across the boundary between Python and C++."""
    target = _target(words, module, python, cwd, include)
    return play(lambda: Plan(target, _steps(ctx.meta[ORDER], target), full=full, kill=kill), as_json=as_json, raw=raw)


def _target(
    words: tuple[str, ...], module: str | None, python: str, cwd: str | None, include: tuple[str, ...]
) -> Target:
    if module:
        return Target(module, words, module=True, python=python, cwd=cwd, include=include)
    if not words:
        raise UsageError("Which script?", "pyharness step SCRIPT --at WHERE ..., or -m MODULE.")
    script = words[0]
    if cwd and Path(script).is_file():  # named from here, as every other file on a command line
        script = str(Path(script).absolute())
    return Target(script, words[1:], python=python, cwd=cwd, include=include)


def _steps(order: Sequence[tuple[str, str | None]], target: Target) -> tuple[Step, ...]:
    """The steps that the options make; without any, the program runs to its first stop: a crash, perhaps."""
    steps: list[Step] = []
    script = "" if target.module else target.script
    moves = {move: move for move in MOVES}
    for name, value in order:
        if name in moves:
            where = parse(value or "", folders_of(script)) if name == "at" else None
            steps.append(Step(moves[name], f"--{name.replace('_', '-')}{f' {value}' if value else ''}", where))
        elif name in {"print", "stack"}:
            if not steps:
                raise UsageError(f"--{name} comes before the first stop.", "Put --at WHERE or --into before it.")
            asked = {"prints": (*steps[-1].prints, value or "")} if name == "print" else {"stack": True}
            steps[-1] = replace(steps[-1], **asked)
    return tuple(steps) or (Step("continue", "the run"),)
