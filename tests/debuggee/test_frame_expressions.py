"""An expression that the user typed is evaluated as if it stood in the frame's own code."""

import sys

import pytest

from pyharness.debuggee.lines.frame_expressions import evaluated

FACTOR = 3


def stands(numbers, limit):
    inner = limit + 1
    return sys._getframe() if numbers and inner else None


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("limit * FACTOR", 6),
        ("[n for n in numbers if n > limit]", [3, 4]),
        ("sum(n * FACTOR for n in numbers if n < inner)", 9),
        ("(lambda n: n + limit + FACTOR)(1)", 6),
        ("[[n * m for m in numbers if m > limit] for n in (limit, inner)]", [[6, 8], [9, 12]]),
        ("len([len(text) for text in ('a', 'bb')])", 2),
    ],
)
def test_scopes_in_it_see_locals_and_globals(expression, value):
    assert evaluated(expression, stands([1, 2, 3, 4], 2)) == value


def test_a_local_hides_a_global_of_its_name():
    def hides(FACTOR):  # noqa: N803
        return sys._getframe() if FACTOR else None

    frame = hides(10)
    assert evaluated("FACTOR", frame) == 10
    assert evaluated("[FACTOR for _ in range(1)]", frame) == [10]


def test_the_frame_is_as_it_was():
    frame = stands([1], 2)
    assert evaluated("[(limit := 9) for _ in range(1)]", frame) == [9]
    assert evaluated("(limit := 9)", frame) == 9
    assert evaluated("limit", frame) == 2
    with pytest.raises(SyntaxError):
        evaluated("limit =", frame)
    with pytest.raises(NameError):
        evaluated("[nosuch for _ in range(1)]", frame)
    assert FACTOR == 3
    assert "limit" not in globals()
