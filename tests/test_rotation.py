"""Variants run in turn: each of them within so many turns, one at least in each, and whatever is named."""

from pathlib import Path

import pytest

from kit.rotation import phase_of, turn_of

pytest_plugins = ["pytester"]
ROTATED = """
import pytest
from kit import rotation

@pytest.mark.rotated
@pytest.mark.parametrize("case", ["a", "b", "c", "d", pytest.param("e", marks=rotation.always)])
def test_five(case):
    assert case != "b"

@pytest.fixture(scope="module", params=["x", "y"])
def made(request):
    return request.param

@pytest.mark.rotated(by="made")
@pytest.mark.parametrize("case", [1, 2])
def test_made(made, case):
    pass

@pytest.mark.rotated(turns=6)
@pytest.mark.parametrize("case", [1, 2, 3, 4])
def test_four(case):
    pass

def test_other():
    pass
"""
SHARES = {
    0: {"five[a]", "five[e]", "made[x-1]", "made[x-2]", "four[1]", "other"},
    1: {"five[b]", "five[e]", "made[y-1]", "made[y-2]", "four[2]", "other"},
    2: {"five[c]", "five[e]", "made[x-1]", "made[x-2]", "four[3]", "other"},
    3: {"five[d]", "five[e]", "made[y-1]", "made[y-2]", "four[4]", "other"},
}
FILE = """
import pytest
from kit import rotation

pytestmark = pytest.mark.rotated_tests(turns=2)

@rotation.always
def test_always():
    pass

def test_one():
    pass

@pytest.mark.rotated
@pytest.mark.parametrize("case", ["a", "b"])
def test_two(case):
    pass

@pytest.mark.rotated_tests(turns=4, number=3)
def test_together():
    pass

@pytest.mark.rotated_tests(turns=4, number=3)
def test_too():
    pass
"""
TURNS_OF_FILE = {
    "1": [{"always", "two[a]"}, {"always", "one"}, {"always", "two[b]"}, {"always", "one", "together", "too"}],
    "": [
        *({"always"}, {"always", "one"}, {"always", "two[a]"}, {"always", "together", "too"}),
        *({"always"}, {"always", "one"}, {"always", "two[b]"}, {"always"}),
    ],
}
ALL = set().union(*SHARES.values())


@pytest.fixture
def run(pytester, monkeypatch):
    """Which tests ran in a turn of the file's own, and what is said at the end."""
    pytester.makeconftest('pytest_plugins = ["kit.rotation"]')
    pytester.makepyfile(test_it=ROTATED)

    def run(*words, turn=0):
        day = turn if turn == "all" else turn - phase_of(Path("test_it.py"))
        monkeypatch.setenv("PYHARNESS_TURN", str(day))
        said = pytester.inline_run(*words)
        ran = {each.nodeid.partition("::test_")[2] for each in said.getreports("pytest_runtest_logreport")}
        return ran, said

    return run


@pytest.mark.parametrize("turn", SHARES)
def test_each_day_has_a_share(run, turn):
    assert run(turn=turn)[0] == SHARES[turn]


@pytest.mark.parametrize("double", TURNS_OF_FILE)
def test_the_tests_of_a_file_take_turns_and_so_do_their_variants(run, pytester, monkeypatch, double):
    """By hand half as many of them run as in CI."""
    monkeypatch.setenv("PYHARNESS_DOUBLE", double)
    pytester.makepyfile(test_it=FILE)
    turns = TURNS_OF_FILE[double]
    assert [run(turn=turn)[0] for turn in range(len(turns))] == turns


def test_ci_runs_what_it_says_runs_again(pytester, run, monkeypatch):
    del run
    monkeypatch.setenv("PYHARNESS_TURN", "4")
    monkeypatch.setenv("PYHARNESS_DOUBLE", "1")
    pytester.runpytest().stdout.fnmatch_lines(["*(PYHARNESS_DOUBLE=1 PYHARNESS_TURN=4 runs the same again)"])


def test_files_begin_at_days_of_their_own():
    """A file has one phase in each process, whatever the seed of its hashes."""
    assert len({phase_of(Path(f"test_{name}.py")) % 7 for name in range(20)}) > 4
    assert phase_of(Path("a/test_it.py")) == 2310449253


def test_all_of_them_run_in_test_all(run):
    assert run(turn="all")[0] == ALL


@pytest.mark.parametrize(
    ("words", "ran"),
    [
        (["test_it.py::test_five[c]"], {"five[c]"}),
        (["test_it.py::test_four"], {"four[1]", "four[2]", "four[3]", "four[4]"}),
        (["test_it.py::test_four[4]", "test_it.py::test_other"], {"four[4]", "other"}),
        (["-k", "five and b"], {"five[b]"}),
    ],
)
def test_what_is_named_runs_in_every_turn(run, words, ran):
    assert run(*words)[0] == ran


def test_what_failed_runs_again_on_another_day(run):
    run(turn=1)
    assert run("--last-failed", turn=2)[0] == {"five[b]"}


@pytest.mark.parametrize("processes", ["0", "2"])
def test_the_summary_says_what_is_left(pytester, run, monkeypatch, processes):
    del run
    monkeypatch.setenv("PYHARNESS_TURN", "4")
    said = pytester.runpytest("-n", processes)
    said.stdout.fnmatch_lines(["8 tests of 13 left to make test-all, *PYHARNESS_TURN=4 runs the same again*"])
    monkeypatch.setenv("PYHARNESS_TURN", "all")
    pytester.runpytest("-n", processes).stdout.no_fnmatch_line("*left to make test-all*")


def test_a_turn_is_half_a_day():
    assert turn_of("", 43200 * 7 + 5) == 7
    assert turn_of("12", 0) == 12
    assert turn_of("all", 0) is None
