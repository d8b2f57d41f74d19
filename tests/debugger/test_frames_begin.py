"""However a frame begins or goes on, a place in it is reached; and where nothing can stop, nothing is asked (3.11)."""

import re
from collections import Counter
from pathlib import Path

import pytest

from kit import needs
from kit.interpreters import cases, interpreters

pytestmark = pytest.mark.rotated_tests(turns=6)
PROGRAM = "many_beginnings.py"
WAITING = {"thrown", "finally", "delegated", "cancelled", "asynchronous", "begun"}
"""In generators and coroutines: with one of these, pyharness stands wherever frames begin."""
ROUNDS = 18
"""Half of them: Python 3.11 is quick from the 8th call on, and begins with another instruction then."""


@pytest.mark.parametrize("python", cases(interpreters()))
@pytest.mark.parametrize("waiting", [True, False], ids=["of all kinds", "of functions"])
@pytest.mark.parametrize("when", ["before", "again"])
def test_each_way_comes_to_a_place(debugged, waiting, when, python):
    program, seen = debugged(PROGRAM), Counter()
    text = Path(program.script).read_text()
    marks = set(re.findall(r"# @(\w+)$", text, re.MULTILINE)) - {"half", "end"}
    marks = sorted(marks if waiting else marks - WAITING)
    with program.start(str(ROUNDS), python=interpreters()[python]) as it:

        def place():
            return [it.log(program.at(mark), mark, lambda line: seen.update(line.split()[-1:])) for mark in marks]

        if when == "before":
            place()
        it.run_to(program.at("half"))
        seen.clear()
        if when == "again":
            for point in place():
                it.clear_breakpoint(point)
            place()
        assert it.resume() is None
    counted = {name: int(number) for name, number in re.findall(r"(\w+)=(\d+)", program.output)}
    assert seen == {mark: counted[mark] for mark in marks}


@needs.AN_ASKING_LOOP
def test_nothing_is_asked_where_nothing_can_stop(debugged):
    """Calls are inlined until a frame begins that has a place, and again when it has ended."""
    program = debugged("free_beginnings.py")
    with program.start() as it:
        assert it.run_to(program.at("begin")) is not None
        it.set_breakpoint(program.at("placed"))
        assert it.resume() is None
    assert program.output == "before False within True after False same True\n" * 3
