"""A session file with places at ops and autograd nodes, on an extension that is not ours."""

import json
import os
import re
import subprocess

import pytest

from kit import builds
from kit.command import PYHARNESS
from kit.names import qualified
from kit.paths import PROGRAMS, search_path

pytestmark = pytest.mark.rotated_tests(turns=2)

PROGRAM = PROGRAMS / "op_eager.py"
SESSION = """[program]
script = "{PROGRAM}"
args = ["{EXTENSION}"]

[[step]]
at = "op:walk::weighted when max(in0) > 1"
print = ["in0"]
stack = true

[step.expect]
language = "native"
reason = "breakpoint"
function = "walk::weighted"
note = "hit 1, called from .*op_eager.py"
stack_contains = ["walk::weighted", { language = "python", function = "{FORWARD}", source = "torch.ops.walk" }]
printed = { in0 = "5.0, 5.0" }

[[step]]
into = true
expect = { function = "walk::weighted", source = "input.clone" }

[[step]]
at = "node:MulBackward0"
print = ["in0"]
stack = true

[step.expect]
function = "MulBackward0"
printed = { in0 = "^Tensor float32 \\\\[2, 4\\\\]" }
stack_contains = ["Engine::execute", { language = "python", source = "backward" }]

[[step]]
out = true
expect = { language = "python", source = "done" }
"""


@pytest.fixture
def played(session, tmp_path):
    def play(text):
        meant = {"PROGRAM": PROGRAM, "EXTENSION": builds.op_kernel(), "FORWARD": qualified("Scale.forward")}
        written = re.sub(r"\{([A-Z]+)\}", lambda found: str(meant[found[1]]), text)
        command = [*PYHARNESS, "session", "run", session(written), "--json"]
        environment = {
            **os.environ,
            "PYHARNESS_HOME": str(tmp_path / "state"),
            "PYTHONPATH": search_path(),
        }
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, check=False, timeout=90, cwd=tmp_path
        )
        return done, json.loads(done.stdout) if done.stdout else None

    return play


def test_places_at_ops_and_nodes_hold(played):
    done, transcript = played(SESSION)
    assert done.returncode == 0, done.stdout + done.stderr
    assert [each["holds"] for each in transcript["expectations"]] == [True] * 4
    functions = [stop["function"] for stop in transcript["stops"]]
    assert functions == ["walk::weighted", "walk::weighted", "MulBackward0", "<module>"]


def test_a_condition_that_cannot_be_meant_is_refused_at_its_line(played):
    done, transcript = played(SESSION.replace("max(in0) > 1", "maxx(in0) > 1"))
    assert (done.returncode, transcript["stops"]) == (2, [])
    assert "it.toml:6: The condition 'maxx(in0) > 1'" in transcript["error"]["message"]
    assert "Did you mean max" in transcript["error"]["remedy"]
