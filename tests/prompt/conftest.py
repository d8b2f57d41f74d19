"""What the tests of the prompt share: a program to type at, through a pipe and in a terminal."""

import sys

import pytest

from kit.command import PYHARNESS
from kit.dialogue import PROMPT, Dialogue
from kit.marks import marks
from kit.paths import PROGRAMS
from kit.terminal import Window

PROGRAM = PROGRAMS / "prompted.py"


@pytest.fixture
def line():
    """The lines of the marks of the program."""
    return marks(PROGRAM)


@pytest.fixture
def piped(pyharness):
    """``piped(COMMANDS, ARGUMENT, ...)``: what ``pyharness debug`` makes of commands that come from a pipe."""

    def run(commands, *arguments, options=(), program=PROGRAM, **settings):
        words = ("debug", *options, program, *(("--", *arguments) if arguments else ()))
        return pyharness(*words, stdin=None, input="".join(f"{each}\n" for each in commands), **settings)

    return run


@pytest.fixture
def dialogue(environment):
    """``dialogue(ARGUMENT, ...)``: ``pyharness debug`` in a terminal of its own, at its first prompt."""
    begun = []

    def begin(*arguments, options=(), program=PROGRAM, **settings):
        words = ("debug", *options, str(program), *(("--", *arguments) if arguments else ()))
        terminal = Dialogue([*PYHARNESS, *words], {**environment, "TERM": "dumb", **settings})
        begun.append(terminal)
        terminal.wait_for(PROMPT)
        return terminal

    yield begin
    for terminal in begun:
        terminal.end()


@pytest.fixture
def window(environment):
    """``window(ARGUMENT, ...)``: ``pyharness debug`` in a window, at its first prompt."""
    begun = []

    def begin(*arguments, options=(), program=PROGRAM, columns=80, lines=40, **settings):
        words = ("debug", *map(str, options), str(program), *(("--", *arguments) if arguments else ()))
        begun.append(Window([*PYHARNESS, *words], {**environment, **settings}, columns, lines))
        begun[-1].prompts()
        return begun[-1]

    yield begin
    for each in begun:
        each.end()


@pytest.fixture
def in_place(environment):
    """``in_place(DOES, ...)``: tests/programs/in_place.py in a terminal, at the first prompt that it opens."""
    begun = []

    def begin(*words, command=(sys.executable, PROGRAMS / "in_place.py"), first=PROMPT, **settings):
        hook = {"TERM": "dumb", "PYTHONBREAKPOINT": "pyharness.breakpoint"}
        terminal = Dialogue([*map(str, (*command, *words))], {**environment, **hook, **settings})
        begun.append(terminal)
        terminal.wait_for(first)
        return terminal

    yield begin
    for terminal in begun:
        terminal.end()
