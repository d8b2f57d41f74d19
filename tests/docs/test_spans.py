"""Commands in the text of README and docs, as `pyharness VERB --option`, name verbs and options that exist."""

from __future__ import annotations

import re

import click
import pytest
from pages import pages

from kit.paths import ROOT
from pyharness import cli
from pyharness.model.errors import UsageError

SPAN = re.compile(r"`(?:python -m )?pyharness (?P<words>[a-z-][^`]*)`")
PACKAGE = ROOT / "pyharness"
_IN_A_SHELL = re.compile(r"\$\(python -m pyharness (?P<words>[a-z-][^)]*)\)")
_BROKEN = re.compile(r"\n *(?:(?://|#) *)?")
"""The end of a line, with what begins the next one of a comment."""
OPTION = re.compile(r"(?<![\w-])(--?[a-z][a-z-]*)")


def spans() -> list[tuple[str, str]]:
    """Page and words behind ``pyharness``, one for each different one."""
    found = {}
    for page in pages():
        text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
        for span in SPAN.finditer(text):
            found.setdefault(" ".join(span["words"].split()), str(page.relative_to(ROOT)))
    return [(page, words) for words, page in found.items()]


def meant(words: list[str]) -> tuple[click.Command, list[str]]:
    """The command that the words name, and those behind it; fails for a verb that is none."""
    command: click.Command = cli.command
    context = click.Context(command, info_name="pyharness")
    while isinstance(command, click.Group) and words and re.fullmatch(r"[a-z-]+", words[0]) and words[0][0] != "-":
        command = command.get_command(context, words[0])
        words = words[1:]
    return command, words


@pytest.mark.parametrize(("page", "words"), spans(), ids=lambda each: each.replace("/", "."))
def test_a_command_in_a_sentence_exists(page, words):
    own = words.partition(" -- ")[0]
    command, rest = meant(own.split())
    known = {name for param in command.params for name in (*param.opts, *param.secondary_opts)} | {"--help", "-h"}
    if isinstance(command, click.Group):
        known |= {"--version"}
    program = command.name == "run"  # what follows its script is the program's
    typed = OPTION.findall(" ".join(rest).partition(".py ")[0] if program else " ".join(rest))
    assert set(typed) <= known, f"{page}: `pyharness {words}`"


def test_there_are_some():
    assert len(spans()) > 20


def named_in_sources() -> list[tuple[str, str]]:
    """File and words of each command that a comment, a docstring or a message of what is installed names."""
    found = {}
    for file in sorted(file for kind in ("*.py", "*.h", "*.js", "*.toml") for file in PACKAGE.rglob(kind)):
        text = _BROKEN.sub(" ", file.read_text(encoding="utf-8"))
        for words in (named.group("words") for pattern in (SPAN, _IN_A_SHELL) for named in pattern.finditer(text)):
            found.setdefault(" ".join(words.split()), str(file.relative_to(ROOT)))
    return [(file, words) for words, file in found.items()]


def test_a_command_that_what_is_installed_names_exists():
    named = named_in_sources()
    assert len(named) > 20
    assert not [wrong for file, words in named if (wrong := _wrong(file, words))]


def _wrong(file: str, words: str) -> str:
    try:
        test_a_command_in_a_sentence_exists(file, words)
    except (UsageError, AssertionError) as error:
        return f"{file}: `pyharness {words}`: {error}"
    return ""
