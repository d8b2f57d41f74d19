"""``pyharness trace`` and ``run --nan`` on a model and an extension that are not ours."""

import json
from functools import partial

import pytest

from kit import builds
from kit.marks import line_of
from kit.paths import PROGRAMS

pytestmark = pytest.mark.rotated_tests(turns=3)


SURVEYED = PROGRAMS / "surveyed.py"
line = partial(line_of, file=SURVEYED)
NODE = "torch::autograd::CppNode<survey::Distance>"


@pytest.fixture
def survey():
    return builds.survey()


def test_a_trace_names_its_op_its_nodes_and_what_was_not_seen(pyharness, survey, tmp_path):
    result = pyharness("trace", SURVEYED, "--json", "-o", tmp_path / "trace.json", "--", survey)
    assert result.returncode == 0, result.stderr
    events = json.loads(result.stdout)["events"]
    op = next(event for event in events if event["name"] == "survey::distance")
    assert (op["origin"]["line"], op["module"]) == (line("op"), "")
    behind_op, direct = sorted((event for event in events if event["name"] == NODE), key=lambda e: e["sequence"])
    assert (behind_op["forward"], behind_op["approximate"]) == (op["number"], False)
    assert (direct["origin"]["line"], direct["module"], direct["approximate"]) == (line("direct"), "anchor", True)
    assert [event["name"] for event in events if event["approximate"]] == [NODE]
    slices = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    said = [each["args"]["forward op is"] for each in slices if "forward op is" in each.get("args", {})]
    assert said == ["the nearest, not seen to make it"]


def test_a_run_says_where_the_first_nan_is_made(pyharness, survey):
    """The program looks itself, too: with ``raise`` it ends there, and so says its exit status."""
    result = pyharness("run", SURVEYED, survey, "raise")
    assert result.returncode == 1
    assert f"NonFiniteError: {NODE} made the first NaN at {SURVEYED}:{line('direct')}, module anchor." in result.stderr
    clean = pyharness("run", "--nan", SURVEYED, survey)
    assert (clean.returncode, clean.stdout) == (0, "done\n")
    assert "no NaN or Inf was made" in clean.stderr
