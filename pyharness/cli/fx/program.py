"""The program whose graphs a verb shows: its options, its run, and what it made."""

from __future__ import annotations

import functools
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

import click

from pyharness.cli.grammar.verb import Verb
from pyharness.cli.kit import output
from pyharness.cli.kit.entry_run import exchange, left_nothing, run_entry
from pyharness.cli.kit.options import program_json_option, program_options
from pyharness.cli.kit.script import command_of
from pyharness.host.exit_status import ExitStatus, of_program
from pyharness.model.codec import decode
from pyharness.model.errors import HarnessError, UsageError
from pyharness.model.graph import Chosen, MadeGraph, select
from pyharness.model.text.styled_line import Line
from pyharness.report.graph_table import headline

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from pyharness.debugger.starting.launch import Command
    from pyharness.model.graph import Graph

_ALL = "Show also the graphs that torch makes for itself on the way."
_EPILOG = """What follows -- belongs to the program. GRAPH is a number or a name of the list that the verb prints, with
@VERSION behind it for what the GraphModule was before it was recompiled: Model@1."""
_STATUSES = (("the program's", "shown; 128 + N for signal N"), ("1", "the program made no graph"))
_NONE = """torch.fx.symbolic_trace, pyharness.fx.Tracer, torch.export and torch.compile (once it is called) make them; \
--all also shows those that torch makes for itself."""


_RAN = "pyharness.ran"
"""In a command's ``meta``: a program was run."""


@dataclass(frozen=True)
class Program:
    """What to run, and which of its graphs to keep."""

    command: Command
    everything: bool
    as_json: bool


@dataclass(frozen=True)
class Made:
    """What a program made, and how it ended."""

    graphs: tuple[MadeGraph, ...]
    script: str
    status: int
    exported: dict[str, Any] = field(default_factory=dict)
    """Folder, class and files of the package that was asked for, or what was wrong with it."""

    def chosen(self, which: str | None) -> list[Chosen]:
        """The graph that ``which`` names, else all as they were at last."""
        return [select(self.graphs, which)] if which else [Chosen(each, each.count) for each in self.graphs]

    def one(self, which: str | None) -> Chosen:
        """The graph that ``which`` names, else the only one; ``UsageError`` where there are several."""
        if which or len(self.graphs) == 1:
            return self.chosen(which)[0]
        known = ", ".join(f"{each.number} {each.name}" for each in self.graphs)
        raise UsageError(f"{self.script} made {len(self.graphs)} graphs: {known}.", "Choose one: --graph NUMBER.")


def program_verb(*examples: tuple[str, str]) -> Callable[[Callable[..., int]], click.Command]:
    """A verb on a program's graphs, with the options that all of them have; it gets ``program`` instead of those."""
    verb = click.command(cls=Verb, runs=True, epilog=_EPILOG, examples=examples, statuses=_STATUSES)
    return lambda function: verb(_with_program(function))


def _with_program(function: Callable[..., int]) -> Callable[..., int]:
    @functools.wraps(function)
    def with_program(
        *,
        words: tuple[str, ...],
        module: str | None,
        python: str,
        cwd: str | None,
        everything: bool,
        as_json: bool,
        **options: Any,
    ) -> int:
        program = Program(command_of(words, module, python, cwd), everything, as_json)
        try:
            return function(program=program, **options)
        except UsageError as error:  # what was typed may be wrong in it; but the program has run
            error.exit_code = ExitStatus.FAILED if click.get_current_context().meta.get(_RAN) else error.exit_code
            raise

    with_program = program_json_option(with_program)
    everything_option = click.option("--all", "everything", is_flag=True, help=_ALL)
    return cast("Callable[..., int]", program_options(everything_option(with_program)))


graph_option = click.option(
    "--graph", "which", metavar="GRAPH", help="Show one graph only: its number or name, @VERSION."
)


def run(program: Program, export: dict[str, Any] | None = None, *, kernels: bool = False) -> Made:
    """Run it to its end; ``HarnessError`` where it made no graph.

    ``kernels``: have inductor lower all graphs anew, and know which kernel computes which node.
    ``export``: see ``pyharness.debuggee.entries.graphs.Request``; what was written is then in ``Made.exported``.
    """
    program.command.check()
    click.get_current_context().meta[_RAN] = True
    with exchange("graphs") as folder:
        request = {"everything": program.everything, "export": export, "kernels": kernels}
        code = run_entry(
            "graphs",
            program.command,
            folder,
            request,
            to_stderr=program.as_json,
            so_far=lambda: "the program runs",
        )
        graphs = _read(folder / "graphs.json", code)
        exported = json.loads((folder / "export.json").read_bytes()) if export and graphs else {}
    status = of_program(code)
    if not graphs:
        ended = f" It ended with exit status {status}." if status else ""
        error = HarnessError(f"{program.command.script} made no GraphModule.{ended}", _NONE)
        error.exit_code = status or 1
        raise error
    return Made(graphs, program.command.script, status, exported)


def sections(chosen: Sequence[Chosen], view: Callable[[Graph, int | None], Iterator[Line]]) -> Iterator[Line]:
    """A heading and a view of each graph."""
    width = output.columns()
    for number, each in enumerate(chosen):
        if number:
            yield Line("")
        yield headline(each)
        yield from view(each.graph, width)


def end(made: Made) -> int:
    """The exit status of a verb that has shown everything; says how the program ended, if that was not well."""
    if made.status:
        output.error(f"{made.script} ended with exit status {made.status}: what it made until then is shown.")
    return made.status


def _read(file: Path, code: int) -> tuple[MadeGraph, ...]:
    try:
        return decode(tuple[MadeGraph, ...], json.loads(file.read_bytes()), "the graphs")
    except FileNotFoundError:
        ways = "os._exit perhaps, exec, or another user than at its start"
        how = f"signal {-code} killed it" if code < 0 else f"exit status {code}, {ways}"
        usual = HarnessError(f"The program left no graphs: {how}.", "They are written when Python ends.")
        raise left_nothing(file.parent, code, usual) from None
