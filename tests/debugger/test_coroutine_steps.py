"""Steps in coroutines stay with their task and end with who waits for it; steps in generators are pdb's."""

import re
import subprocess

import pytest

from kit.interpreters import cases, interpreters
from kit.marks import line_of
from kit.paths import PROGRAMS

SCRIPT = PROGRAMS / "coroutine_steps.py"
VERSIONS = cases(name for name in interpreters() if not name.startswith("3.9"))
pytestmark = [pytest.mark.rotated(by="version"), pytest.mark.rotated_tests(turns=9)]
CLOSES_UNSEEN = "3.13"
"""This Python closes a generator that waits in no ``try`` without telling of it, so no debugger hears of that."""


@pytest.fixture(params=VERSIONS)
def version(request):
    return request.param


@pytest.fixture
def coroutines(debugged):
    return debugged(SCRIPT.name)


@pytest.fixture
def stepped(coroutines, version):
    """From a place, the n-th time that it is there: the function and the line of each step's end."""

    def go(mark, *steps, nth=1):
        it = coroutines.start(python=interpreters()[version])
        for _ in range(nth):
            it.run_to(coroutines.at(mark))
        return [stop and (stop.frame.function.rpartition(".")[2], stop.frame.line) for stop in _taken(it, steps)]

    return go


def _taken(program, steps):
    return [getattr(program, step)() for step in steps]


def lines(*pairs):
    return [(function, line_of(mark, SCRIPT)) for function, mark in pairs]


def test_over_an_await_ends_on_the_next_line_of_the_same_task(stepped, coroutines):
    found = stepped("job_begins", "over", "over", "over")
    assert found == lines(("job", "job_waits"), ("job", "job_goes_on"), ("job", "job_returns"))
    assert coroutines.program.evaluate("py:name") == "'c2'"


def test_out_of_a_coroutine_ends_where_it_is_awaited(stepped):
    found = stepped("inner_waits", "out", "over")
    assert found == lines(("job", "job_waits"), ("job", "job_goes_on"))


@pytest.mark.parametrize(("mark", "step"), [("job_goes_on", "out"), ("job_returns", "over")])
def test_a_task_is_left_towards_the_coroutine_that_awaits_it(stepped, mark, step):
    assert stepped(mark, step) == lines(("main", "main_goes_on"))


def test_a_task_is_left_through_gather(stepped):
    assert stepped("job_goes_on", "out", nth=3) == lines(("main", "main_ends"))


def test_over_a_line_of_a_coroutine_that_raises(stepped):
    assert stepped("fails", "over") == lines(("caught", "catches"))


def test_out_of_a_coroutine_that_raises(stepped):
    assert stepped("fails", "out", "over") == lines(("caught", "asks"), ("caught", "catches"))


def test_over_a_yield_whose_generator_is_closed(stepped, version):
    ends = [None] if version.startswith(CLOSES_UNSEEN) else lines(("abandons", "abandoned"))
    assert stepped("yields", "over", nth=3) == ends


@pytest.mark.parametrize(
    ("mark", "steps"),
    [
        ("yields", ["over"]),
        ("yields", ["into"] * 5),
        ("consumes", ["over"] * 4),
        ("consumes", ["into"] * 6),
        ("delegates", ["into"] * 9),
    ],
)
def test_generators_step_as_in_pdb(stepped, version, mark, steps):
    assert stepped(mark, *steps) == by_pdb(interpreters()[version], mark, steps)


def by_pdb(python, mark, steps):
    """Steps of pdb's, without its stops where a function is called or returns."""
    words = [python, "-m", "pdb", str(SCRIPT)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=0) as pdb:
        said = [_said(pdb), _said(pdb, f"tbreak {line_of(mark, SCRIPT)}"), _said(pdb, "continue")]
        found = []
        for step in steps:
            while "--Return--" in (text := _said(pdb, {"over": "next", "into": "step"}[step])) or "--Call--" in text:
                pass
            at = re.search(r"^> .*\((\d+)\)(\S+?)\(", text, re.MULTILINE)
            assert at, (said, text)
            found.append((at[2], int(at[1])))
        pdb.kill()
    return found


def _said(pdb, command=""):
    if command:
        pdb.stdin.write(f"{command}\n")
        pdb.stdin.flush()
    text = ""
    while not text.endswith("(Pdb) "):
        character = pdb.stdout.read(1)
        assert character, text
        text += character
    return text
