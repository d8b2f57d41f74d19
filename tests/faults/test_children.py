"""Programs that start processes: children run free, whatever is set in their parent, and the parent still stops."""

import json

import pytest
from harness_process import at

from kit.paths import PROGRAMS

FORKS = PROGRAMS / "fault_forks.py"
RESULTS = {"fork": [5], "process": [3], "pool-fork": [3, 5, 7, 9], "pool-spawn": [3, 5, 7, 9], "loader": [3, 5, 7, 9]}


def finished(pyharness, way, *actions):
    harness = pyharness("step", FORKS, "--json", *actions, "--", way)
    status, output = harness.end()
    assert status == 0, output
    assert f"children {RESULTS[way]}\n" in output
    assert "parent 23\n" in output
    return json.loads(harness.said)["stops"]


WAYS = pytest.mark.parametrize("way", RESULTS)


@pytest.mark.rotated
@WAYS
def test_breakpoints_stop_the_parent_alone(pyharness, way):
    stops = finished(
        pyharness, way, "--at", at("work", FORKS), "--print", "number", "--at", "native:held", "--print", "value"
    )
    assert [stop["printed"] for stop in stops] == [{"number": "10"}, {"value": "11"}]


@pytest.mark.rotated
@pytest.mark.parametrize("way", ["fork", "pool-fork"])
def test_children_made_under_a_native_breakpoint(pyharness, way):
    (stop,) = finished(pyharness, way, "--at", "native:held", "--print", "value")
    assert stop["printed"] == {"value": "11"}


@pytest.mark.rotated
@pytest.mark.parametrize("way", ["fork", "pool-fork", "pool-spawn"])
def test_children_made_in_a_step(pyharness, way):
    stops = finished(pyharness, way, "--at", at("children", FORKS), "--into-native", "--over", "--into")
    assert [stop["language"] for stop in stops] == ["python"] * 4
    assert stops[1]["line"] == stops[0]["line"] + 1
    assert stops[1]["note"].endswith("native functions")
    assert stops[3]["function"] == "work"
