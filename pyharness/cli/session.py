"""``pyharness session run FILE`` and ``pyharness session check FILE``."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import click

from pyharness.cli import output
from pyharness.cli.transcript import play
from pyharness.debugger.launch import Command
from pyharness.session.parse import plan_of

if TYPE_CHECKING:
    from pyharness.session.plan import Plan


@click.group()
def command() -> None:
    """Play session files: steps in TOML, with what is expected of each stop."""


@command.command("run")
@click.argument("file")
@click.option("--json", "as_json", is_flag=True, help="One JSON object; the program's output goes to stderr.")
@click.option("--full", is_flag=True, help="Show the stacks' plumbing frames too.")
@click.option("--raw", is_flag=True, help="Keep what differs from run to run: addresses and thread ids.")
def run_command(file: str, *, as_json: bool, full: bool, raw: bool) -> int:
    """Play FILE; exit 1 when something is not as it expects."""

    def make_plan() -> Plan:
        plan = plan_of(file)
        return replace(plan, full=plan.full or full)

    return play(make_plan, as_json=as_json, raw=raw)


@command.command("check")
@click.argument("file")
def check_command(file: str) -> int:
    """Read FILE and say what is wrong with it, without running anything."""
    plan = plan_of(file)
    target = plan.target
    Command(target.script, target.arguments, target.module, target.python, target.cwd, target.env).check()
    count = len(plan.steps)
    output.write(f"{file}: {count} step{'' if count == 1 else 's'}, nothing wrong.")
    return 0
