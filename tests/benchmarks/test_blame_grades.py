"""The rule that grades what tools say of a job that hangs."""

import pytest

from benchmarks.blaming.cases import CASES
from benchmarks.blaming.grade import Grade, Said, grade, places
from benchmarks.blaming.tools import _blamed, _columns

BY_NAME = {case.name: case for case in CASES}
SLEEPS, SWAPPED = BY_NAME["sleeps"], BY_NAME["swapped"]
STACKS = {0: "step (faults.py:30)", 1: "sleeps (faults.py:39)", 2: "step (faults.py:30)"}


@pytest.mark.parametrize(
    ("said", "wanted"),
    [
        (Said(frozenset({1}), "missing from all_reduce"), Grade.NAMES),
        (Said(frozenset({1}), "it sleeps in sleeps (faults.py:39)"), Grade.NAMES),
        (Said(frozenset({1}), "something is wrong"), Grade.HIDES),
        (Said(frozenset({0, 1}), "missing from all_reduce"), Grade.HIDES),
        (Said(frozenset({2}), "missing from all_reduce", STACKS), Grade.SHOWS),
        (Said(by_rank=STACKS), Grade.SHOWS),
        (Said(by_rank=dict.fromkeys(range(3), STACKS[1])), Grade.HIDES),
        (Said(), Grade.HIDES),
    ],
)
def test_an_answer_is_graded_by_its_words_alone(said, wanted):
    assert grade(SLEEPS, said) is wanted


def test_an_answer_that_names_may_also_tell_the_place():
    assert places(SLEEPS, Said(frozenset({1}), "it sleeps in sleeps (faults.py:39)"))
    assert not places(SLEEPS, Said(frozenset({1}), "missing from all_reduce"))


def test_the_analyzers_words_are_read():
    assert _blamed("missing ranks: {0, 2}\nCulprit rank 1; Error type") == {0, 1, 2}
    assert _blamed("PARTIAL DATA: 2/3 workers responded\n  Rank 1: ConnectionError: refused") == {1}
    assert _blamed("expected ranks: {0, 1, 2}") == frozenset()
    table = "Rank 0         Rank 1\n-------------  -----------\nall_reduce(a)  broadcast(a)\nall_reduce(b)\n"
    assert grade(SWAPPED, Said(by_rank=_columns(table))) is Grade.SHOWS
