"""``max_new_ops``: a test fails where it runs more ops than were written down for it."""

import json
import os

import pytest

pytestmark = pytest.mark.rotated_tests(turns=5)

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
    [
        (None, "No ops are written down for this test."),
        (b"[]", "test_theirs.json is no file of ops."),
        (b"\xff\xfe{\0", "test_theirs.json is no file of ops."),
        ("a pipe", "no regular file"),
    ],
)
def test_nothing_to_compare_with(suite, tmp_path, text, message):
    file = tmp_path / "__ops__" / "test_theirs.json"
    file.parent.mkdir()
    if text == "a pipe":
        os.mkfifo(file)
    elif text is not None:
        file.write_bytes(text)
    ran = suite(TESTS.format(most=0, more=""))
    assert set(ran.outcomes.values()) == {"failed"}
    assert message in ran.output
    assert "--pyharness-update-ops" in ran.output
    assert "During handling" not in ran.output


def test_what_the_file_says_of_torch_is_data(suite, tmp_path):
    (tmp_path / "__ops__").mkdir()
    known = {"torch": "9\x1b[31m", "tests": {"test_step[1]": {}, "test_step[2]": {}}}
    (tmp_path / "__ops__" / "test_theirs.json").write_text(json.dumps(known))
    ran = suite(TESTS.format(most=0, more=""))
    assert r"with torch 9\x1b[31m, and" in ran.output
    assert "\x1b[31m" not in ran.output


FULL = """
import resource

@pytest.fixture(autouse=True)
def full_disk():
    resource.setrlimit(resource.RLIMIT_FSIZE, ({most}, resource.RLIM_INFINITY))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
"""


def test_a_full_disk_leaves_what_was_written_down(suite, written):
    """A process of Python that may write no longer files is told so, as by a disk that is full."""
    before = written.read_bytes()
    tests = TESTS.format(most=0, more=".clone().exp().log()")
    ran = suite(tests + FULL.format(most=len(before) + 20), plugin=("--pyharness-update-ops",))
    assert set(ran.outcomes.values()) == {"failed"}, ran.output
    assert "File too large" in ran.output
    assert written.read_bytes() == before
    assert [file.name for file in written.parent.iterdir()] == [written.name]
