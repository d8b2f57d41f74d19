"""``pyharness init [DIR]``: a debug build, a session and VS Code's configurations for a project of one's own."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pyharness.cli.grammar.verb import Verb
from pyharness.cli.kit import launch_json, output
from pyharness.cli.kit.options import json_option
from pyharness.model.text.styled_line import Line
from pyharness.project import own_command
from pyharness.project.kinds import KINDS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pyharness.model.text.styled_line import Style
    from pyharness.project.changes import Change, State
    from pyharness.project.plan import Plan

_VENVS = (".venv", "venv", "env")
_CHOSEN = "${command:python.interpreterPath}"
_STYLES: dict[State, Style] = {"written": "good", "merged": "good", "unchanged": "faint", "kept": "warn"}
_MOST_OPS = 4
_EXAMPLES = (
    ("what would it add to the project in this folder?", "pyharness init --dry-run"),
    ("add what an agent needs, too: `pyharness mcp` and a skill", "pyharness init --agent"),
    ("add it, and stop in this op", "pyharness init --op my_ops::rms_norm"),
)
_STATUSES = (("0", "written, or there already"), ("1", "a file cannot be read or written: nothing was changed"))
_KIND = f"How to build it, where it is several: {', '.join(KINDS)}."


@click.command(cls=Verb, examples=_EXAMPLES, statuses=_STATUSES)
@click.argument("folder", metavar="[DIR]", default=".", type=click.Path(path_type=Path, readable=False))
@click.option(
    "--op", default="", metavar="NAME", help="Stop in this op; without it, in the first that runs on the CPU."
)
@click.option("--kind", type=click.Choice(KINDS), metavar="KIND", help=_KIND)
@click.option("--dry-run", is_flag=True, help="Show what would change, as a unified diff; write nothing.")
@click.option("--vscode/--no-vscode", default=True, help="Whether to add to .vscode; the default is yes.")
@click.option("--stock", is_flag=True, help="Add what Microsoft's extensions need too, as `pyharness vscode` does.")
@click.option("--agent", is_flag=True, help="Add `pyharness mcp` to .mcp.json, and a skill for the agent.")
@click.option("--overwrite", is_flag=True, help="Replace files in debugging/ that differ from what init writes.")
@json_option
def command(  # noqa: PLR0913  (one for each option)
    folder: Path,
    *,
    op: str,
    kind: str | None,
    dry_run: bool,
    vscode: bool,
    stock: bool,
    agent: bool,
    overwrite: bool,
    as_json: bool,
) -> None:
    """Make the extension project in DIR (this folder) debuggable: a debug build, a session, VS Code.

    The kind of project and its ops are read from its sources; nothing of it is run. The debug build goes into
    build/pyharness-debug, beside yours. launch.json and tasks.json keep all that they have, comments too. Run again,
    it changes nothing.
    """
    from pyharness.project import changes, kinds, plan

    kinds.check_folder(folder)
    more = launch_json.lists(launch_json.Project(_in_vscode(folder), build=plan.TASK)) if stock else {}
    python = _interpreter(folder)
    serves = _server(folder) if agent else ()
    choices = plan.Choices(kind or "", op, vscode, overwrite, python, _in_vscode(folder), _named(python), serves, more)
    made = plan.plan(folder, choices)
    difference = [line for change in made.changes for line in changes.diff(change)]
    if not dry_run:
        changes.check(made.changes)
        changes.write(made.changes)
    if as_json:
        output.write_json({**made.to_json(), "dry_run": dry_run, "diff": difference if dry_run else []})
    elif dry_run:
        output.write_lines(_difference(difference))
    else:
        output.write_lines(_lines(made))


def _interpreter(folder: Path) -> str:
    """The project's own, else the one of the shell."""
    return next((f"{name}/bin/python" for name in _VENVS if (folder / name / "bin/python").exists()), "python3")


def _named(python: str) -> str:
    """The interpreter of pyharness, where the project has none and the shell would find another one."""
    found = shutil.which("python3")
    here = Path(sys.executable)
    return "" if "/" in python or (found and Path(found).parent == here.parent) else str(here)


def _server(folder: Path) -> Sequence[str]:
    """The command of the server for agents: the project's own, else as a shell finds it, else by our interpreter."""
    own = next((f"{name}/bin/pyharness" for name in _VENVS if (folder / name / "bin/pyharness").exists()), "")
    if own or shutil.which("pyharness"):
        return own or "pyharness", "mcp"
    return own_command.own_command(sys.executable, "mcp")


def _in_vscode(folder: Path) -> str:
    own = _interpreter(folder)
    return f"{launch_json.FOLDER}/{own}" if "/" in own else _CHOSEN


def _difference(lines: list[str]) -> Iterator[Line]:
    if not lines:
        yield Line("Nothing would change.")
    for line in lines:
        yield Line(line, "current" if line.startswith(("---", "+++")) else "good" if line.startswith("+") else "")


def _lines(made: Plan) -> Iterator[Line]:
    project = made.project
    read = f"{_count(made.sources, 'C++ file')}, {_count(len(made.ops), 'op')}"
    yield Line(f"{project.name}: {project.kind} ({project.why}), {read}", "heading")
    if made.op:
        at = f"{made.op.file}:{made.op.line}"
        yield Line(f"stops in {made.op.function or 'a lambda'} ({at}), which {made.op.full_name} runs")
    others = [op.name for op in made.ops if op is not made.op][:_MOST_OPS]
    if others:
        more = ", ..." if len(made.ops) > len(others) + 1 else ""
        yield Line(f"other ops: {', '.join(others)}{more}; --op NAME stops in one of them", "faint")
    yield Line("")
    width = max(len(change.name) for change in made.changes)
    for change in made.changes:
        yield Line(f"  {change.state:<9} {change.name:<{width}}  {_what(change, made)}", _STYLES[change.state])
    yield Line("")
    for note in made.notes:
        yield Line(f"  {note}", "warn")
    if made.notes:
        yield Line("")
    yield Line("Next:")
    for text in made.next:
        yield Line(f"  {text}", "current")


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _what(change: Change, made: Plan) -> str:
    added = made.added.get(change.name)
    return f"+ {', '.join(added)}" if added else change.what
