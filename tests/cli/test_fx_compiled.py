"""``pyharness fx compiled`` on real programs."""

import json

import pytest

pytestmark = pytest.mark.rotated_tests(turns=5)


PROGRAM = """
import sys, torch

def step(x):
    y = x.sin()
    print("between")
    return y.cos()

if len(sys.argv) > 1:
    compiled = torch.compile(step, backend=sys.argv[1])
    compiled(torch.ones(3))
    compiled(torch.ones(4))
print("done")
sys.exit(3 if "fails" in sys.argv else 0)
"""


@pytest.fixture
def script(tmp_path):
    path = tmp_path / "script.py"
    path.write_text(PROGRAM)
    return path


def test_the_json_has_graphs_breaks_guards_and_recompilations(pyharness, script):
    result = pyharness("fx", "compiled", script, "--json", "--", "pyharness")
    assert result.returncode == 0, result.stderr
    assert result.stderr.splitlines() == ["between", "between", "done"]
    data = json.loads(result.stdout)
    found = [(each["id"], each["function"], each["resumed_at"]) for each in data["compilations"]]
    assert found == [("0/0", "step", None), ("1/0", "step", 6), ("0/1", "step", None), ("1/1", "step", 6)]
    first, _, again, _ = data["compilations"]
    assert [graph["kind"] for graph in first["graphs"]] == ["captured", "inference"]
    assert first["ended_by"]["place"] == {"file": str(script), "line": 6, "source": 'print("between")'}
    assert first["guards"]
    assert first["failed_guards"] == []
    assert again["failed_guards"][0]["compilation"] == "0/0"
    assert data["not_compiled"] == []


def test_a_program_is_shown_that_names_another_backend_and_its_exit_status_is_kept(pyharness, script):
    result = pyharness("fx", "compiled", script, "--replace-backend", "--", "eager", "fails")
    assert result.returncode == 3
    lines = result.stdout.splitlines()
    assert lines[:4] == ["between", "between", "done", "step  0/0  script.py:4"]
    assert '            script.py:6  print("between")' in lines
    assert lines[-1] == "4 graphs, 1 graph break, 2 recompilations"


def test_a_program_that_compiles_nothing_is_said_to(pyharness, script):
    result = pyharness("fx", "compiled", script)
    assert result.returncode == 1
    assert "torch.compile made nothing of" in result.stderr
    assert "--replace-backend" in result.stderr
    assert "Traceback" not in result.stderr


def test_a_program_that_is_killed_leaves_no_report(pyharness, tmp_path):
    script = tmp_path / "killed.py"
    script.write_text("import os\nos._exit(4)\n")
    result = pyharness("fx", "compiled", script)
    assert result.returncode == 4
    assert "left no report" in result.stderr


def test_what_cannot_be_meant(pyharness, tmp_path):
    assert "Which script?" in pyharness("fx", "compiled").stderr
    missing = pyharness("fx", "compiled", tmp_path / "missing.py")
    assert (missing.returncode, "Traceback" in missing.stderr) == (2, False)
