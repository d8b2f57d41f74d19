"""``max_new_ops``: a test fails where it runs more ops than were written down for it."""

import json

import pytest

TESTS = """
import pytest
import torch

@pytest.mark.pyharness(max_new_ops={most})
@pytest.mark.parametrize("n", [1, 2])
def test_step(n):
    torch.ones(n){more}.mul(3)
"""


@pytest.fixture
def written(suite, tmp_path):
    """Have the ops of the tests written down, by two processes at once; the file."""
    ran = suite(TESTS.format(most=0, more=""), "-n", "2", plugin=("--pyharness-update-ops",))
    assert set(ran.outcomes.values()) == {"passed"}, ran.output
    return tmp_path / "__ops__" / "test_theirs.json"


def test_a_copy_is_new(suite, written):
    tests = json.loads(written.read_text())["tests"]
    assert list(tests) == ["test_step[1]", "test_step[2]"]
    assert tests["test_step[1]"]["aten::mul"] == 1
    assert suite(TESTS.format(most=0, more="")).code == 0
    ran = suite(TESTS.format(most=0, more=".clone()"))
    assert ran.outcomes == dict.fromkeys(tests, "failed")
    assert "aten::clone" in ran.output
    assert "1 instead of 0" in ran.output
    assert "test_theirs.py:8" in ran.output
    assert suite(TESTS.format(most=5, more=".clone()")).code == 0


@pytest.mark.rotated
@pytest.mark.parametrize(
    ("text", "message"),
    [(None, "No ops are written down for this test."), ("[]", "test_theirs.json is no file of ops.")],
)
def test_nothing_to_compare_with(suite, tmp_path, text, message):
    if text is not None:
        (tmp_path / "__ops__").mkdir()
        (tmp_path / "__ops__" / "test_theirs.json").write_text(text)
    ran = suite(TESTS.format(most=0, more=""))
    assert set(ran.outcomes.values()) == {"failed"}
    assert message in ran.output
    assert "--pyharness-update-ops" in ran.output
    assert "During handling" not in ran.output
