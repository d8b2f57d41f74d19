"""The ready-made gdb scripts run as they are, from the root of the repository, and on another program."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

from kit.paths import ROOT

pytestmark = pytest.mark.rotated_tests(turns=8)


SCRIPTS = sorted((ROOT / "scripts").glob("*.gdb"))

PRINTED = {
    "step_into_kernel": [
        r"Breakpoint 1, forward \(\) at \S+/Transformer_\w+\.py:(\d+)",
        r"rms_norm\.default\(.*\n\tfx node \w+, module blocks\.0\.norm, from \S+/examples/transformer\.py:\d+",
        r"--- into the kernel ---\n#0 .*rms_norm_cpu \(.*\) at \S*csrc/ops/rms_norm\.cpp:\d+",
        r"native +pyharness::ops::rms_norm_cpu",
        r"python +forward +Transformer_\w+\.py:\d+ .*\[fx: \w+ ← blocks\.0\.norm",
        r"python +train +examples/transformer\.py",
        r"--- out, .*\nforward \(\) at \S+/Transformer_\w+\.py:(\d+)\n.*\n\tfx node \w+, module blocks\.0\.mixer",
    ],
    "backward": [
        r"#0 .*rms_norm_backward_cpu \(.*\) at \S*csrc/ops/rms_norm\.cpp:\d+",
        r"native +pyharness::ops::rms_norm_backward_cpu",
        r"\[autograd: ",
        r"python +train +examples/transformer\.py:\d+ +loss\.backward\(\)",
        r"Tensor float32 \[16, 24, 64\] cpu",
    ],
    "crash": [
        r"Signal SIGSEGV\n#0 .*faulty_null_dereference_cpu \(.*\) at \S*csrc/ops/faulty\.cpp:\d+",
        r"python +forward +Sequential_\w+\.py:\d+ .*\[fx: \w+ ← 2",
        r"input = Tensor float32 \[4\] cpu \[0\.0, 4\.0, 8\.0, 12\.0\]",
        r"table = 0x0",
    ],
    "attach": [
        r"Attached to \d+: .*scripts/attach\.py",
        r"Breakpoint 1, pyharness::ops::rms_norm_cpu \(",
        r"python +<module> +scripts/attach\.py",
        r"--- out, .*\nforward \(\) at \S+/Model_\w+\.py:\d+\n.*\n\tfx node tanh",
        r"detached",
    ],
    "core": [
        r"Saved corefile",
        r"Signal SIGSEGV\n#0 .*faulty_null_dereference_cpu \(.*\) at \S*csrc/ops/faulty\.cpp:\d+",
        r"python +forward +Sequential_\w+\.py:\d+ .*\[fx: \w+ ← 2",
        r"input = Tensor float32 \[4\] cpu \[0\.0, 4\.0, 8\.0, 12\.0\]",
    ],
}


def run(script, folder, *arguments, **environment):
    known = {**os.environ, "PYHARNESS_HOME": str(folder / "home"), "PYHARNESS_PYTHON": sys.executable}
    return subprocess.run(
        ["gdb", "-nx", "-batch", "-x", script, *arguments],
        capture_output=True,
        text=True,
        timeout=170,
        check=False,
        cwd=ROOT,
        env={**known, **environment},
    )


def expect(done, patterns):
    shown = f"$ {' '.join(map(str, done.args))}: {done.returncode}\n{done.stdout}\n--- stderr\n{done.stderr}"
    position = 0
    for pattern in patterns:
        found = re.compile(pattern).search(done.stdout, position)
        assert found, f"{pattern!r} is not there (after what came before it) in\n{shown}"
        position = found.end()
    assert done.returncode == 0, shown


def test_every_script_is_tested():
    assert {script.stem for script in SCRIPTS} == set(PRINTED)


@pytest.mark.rotated
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_a_script_runs_as_it_is(tmp_path, script):
    expect(run(script, tmp_path), PRINTED[script.stem])


def test_a_script_runs_on_another_program_and_place(tmp_path):
    program = ROOT / "tests/programs/plain_crossing.py"
    done = run(
        ROOT / "scripts/step_into_kernel.gdb",
        tmp_path,
        "--args",
        sys.executable,
        program,
        PYHARNESS_AT="fx:norm",
        PYHARNESS_INTO="native",
    )
    expect(done, [r"module norm, from ", r"#0 .*csrc/ops/rms_norm\.cpp", r"forward \(\) at .*\n.*\n\tfx node add"])


def test_a_script_fails_when_its_place_is_never_reached(tmp_path):
    done = run(ROOT / "scripts/step_into_kernel.gdb", tmp_path, PYHARNESS_AT="fx:blocks.0.nrm")
    assert done.returncode != 0
    assert "fx:blocks.0.nrm was never reached. Did you mean blocks.0.norm" in done.stderr
