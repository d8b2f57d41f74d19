"""One session, run again and again: the same transcript every time, and nothing left behind.

``PYHARNESS_RUNS`` says how often; the bar is 100.
"""

import os

import pytest
from harness_process import at

from kit.paths import PROGRAMS

pytestmark = pytest.mark.rotated_tests(turns=6, number=0)


RUNS = int(os.environ.get("PYHARNESS_RUNS", "10"))
CROSSING = PROGRAMS / "core_crossing.py"
SESSION = (
    *("step", CROSSING, "--json", "--at", at("held", CROSSING), "--into", "--print", "value", "--stack"),
    *("--into", "--out", "--out", "--print", "a", "--into", "--over", "--out", "--into", "--over", "--into", "--stack"),
    *("--out", "--at", at("fail", CROSSING), "--into", "--out", "--at", "native:tick if n == 4", "--print", "n"),
    *("--at", at("loop", CROSSING), "--into-native", "--print", "py:number", "--at", at("print", CROSSING), "--over"),
)


@pytest.mark.slow
def test_the_same_transcript_every_time(pyharness):
    first = ""
    for number in range(RUNS):
        harness = pyharness(*SESSION)
        status, errors = harness.end()
        assert status == 7, f"run {number}: {errors}\n{harness.said}"
        assert not harness.family(), f"run {number}"
        first = first or harness.said
        assert harness.said == first, f"run {number}"
    assert first.count('"reason"') == 20
