"""Help that teaches: every verb has examples that can be typed, says its exit status, and names things alike."""

import itertools
import re
import shlex

import click
import pytest

from kit.paths import ROOT
from pyharness import cli
from pyharness.cli.grammar.lazy_group import LazyGroup
from pyharness.cli.grammar.verb import Verb
from pyharness.host.exit_status import ExitStatus
from pyharness.model import where

PROJECT = ROOT / "tests/docs/project"
CONTEXT = click.Context(cli.command, info_name="pyharness")


def walk(group, context, path=()):
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        yield (*path, name), command
        if isinstance(command, click.Group):
            yield from walk(command, context, (*path, name))


ALL = [((), cli.command), *walk(cli.command, CONTEXT)]
VERBS = [(path, command) for path, command in ALL if not isinstance(command, click.Group)]
GROUPS = [(path, command) for path, command in ALL if isinstance(command, click.Group)]


def named(each):
    return " ".join(each) if isinstance(each, tuple) else ""


def options(command):
    return [param for param in command.params if isinstance(param, click.Option) and not param.hidden]


@pytest.mark.parametrize(("path", "command"), VERBS, ids=named)
def test_a_verb_teaches(path, command, capsys):
    assert isinstance(command, Verb)
    assert cli.execute([*path, "--help"]) == ExitStatus.OK
    text = capsys.readouterr().out
    assert text.startswith(f"Usage: pyharness {' '.join(path)} ")
    assert "\nExamples:\n" in text
    assert "\nExit status:\n" in text
    assert len(command.statuses) > 2, "what all verbs share, and something of its own"


@pytest.mark.parametrize(("path", "command"), GROUPS, ids=named)
def test_a_group_lists_its_verbs_and_shows_some(path, command, capsys):
    assert isinstance(command, LazyGroup)
    assert cli.execute([*path, "--help"]) == ExitStatus.OK
    text = capsys.readouterr().out
    assert all(f"\n  {name} " in text for name in command.list_commands(CONTEXT))
    assert "\n  $ pyharness " in text
    assert cli.execute([*path]) == ExitStatus.USAGE
    assert capsys.readouterr().err == text, "who types no verb is shown which there are"


EXAMPLES = [(path, line) for path, command in ALL for _, line in command.examples]


@pytest.mark.parametrize(("path", "line"), EXAMPLES, ids=lambda each: each if isinstance(each, str) else None)
def test_an_example_can_be_typed(path, line, monkeypatch):
    """Parsed, not run: in a folder with the files that it names."""
    monkeypatch.chdir(PROJECT)
    typed = re.search(r"\$\((pyharness [^)]*)\)", line)
    words = shlex.split(typed[1] if typed else line.partition(" > ")[0])
    for option, place in itertools.pairwise(words):
        if option in {"--at", "--log"}:
            where.parse(place, [PROJECT])
    assert tuple(words[1 : len(path) + 1]) == path
    context = cli.command.make_context("pyharness", words[1:])
    group = cli.command
    while isinstance(group, click.Group):
        name, command, rest = group.resolve_command(context, [*context._protected_args, *context.args])
        context, group = command.make_context(name, rest, context), command


@pytest.mark.parametrize(("path", "command"), VERBS, ids=named)
def test_options_are_said_in_one_voice(path, command):
    for option in options(command):
        assert option.help[0].isupper(), option.opts
        assert option.help.endswith("."), option.opts
        metavar = option.make_metavar(CONTEXT)
        takes_choice = isinstance(option.type, click.Choice)
        assert option.is_flag or option.count or takes_choice or metavar.replace("|", "").isupper(), metavar
        assert option.count or not {"TEXT", "INTEGER", "DIRECTORY", "FLOAT"} & set(metavar.split()), (
            f"{option.opts} takes {metavar}"
        )
    for argument in command.params:
        if isinstance(argument, click.Argument):
            assert argument.metavar, f"{path}: {argument.name} is named by click"


def test_the_same_option_means_the_same_everywhere():
    says = {}
    for path, command in VERBS:
        for option in options(command):
            says.setdefault(max(option.opts, key=len), {}).setdefault(option.help, []).append(" ".join(path))
    several = {name: helps for name, helps in says.items() if len(helps) > 1}
    differ = {"--json", "--list", "--print", "--limit", "--output", "--overwrite", "--op", "--kind", "--name", "--all"}
    differ |= {"--store", "--timeout"}  # who answers through it, and who asks; of one rank, and of a process
    differ |= {"--merge"}  # what each host has seen, and what each rank has recorded
    assert set(several) <= differ, "another thing should have another name, the same thing the same words"
    short = {}
    for _, command in VERBS:
        for option in options(command):
            for name in option.opts:
                if not name.startswith("--"):
                    short.setdefault(name, set()).add(max(option.opts, key=len))
    assert short == {"-c": {"-c"}, "-m": {"-m"}, "-x": {"-x"}, "-o": {"--output", "--perfetto"}}


@pytest.mark.parametrize("columns", [40, 200])
@pytest.mark.parametrize("words", [(), ("step",), ("fx", "show"), ("stack",)], ids=named)
def test_help_fits_the_terminal(words, columns, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", str(columns))
    assert cli.execute([*words, "--help"]) == 0
    text = capsys.readouterr().out
    prose = [line for line in text.splitlines() if not re.match(r"  [#$] |Usage|  --at|  [a-z-]+:|  --|  -", line)]
    assert max(len(line) for line in prose) <= max(50, min(columns, 80)), "click's own least width, and its most"
