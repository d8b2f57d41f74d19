"""``ph-break op:`` and ``node:`` in a gdb that is alone: no debugpy, no controller."""

import subprocess
import sys

import breakpoint_build

EAGER = breakpoint_build.PROGRAMS / "op_eager.py"


def test_at_an_op_into_its_kernel_and_at_a_node(environment, extension, tmp_path):
    script = tmp_path / "script.gdb"
    commands = [
        "set pagination off",
        "set debuginfod enabled off",
        f"source {breakpoint_build.ROOT}/pyharness/ingdb/load.py",
        f"ph-program {EAGER} {extension}",
        "ph-break op:walk::weighted when max(in0) > 1",
        "ph-break node:MulBackward0",
        "ph-run",
        "ph-tensor in0",
        "ph-into",
        "ph-print scale",
        "ph-bt",
        "ph-out",
        "continue",
        "ph-bt",
    ]
    script.write_text("\n".join([*commands, ""]))
    done = subprocess.run(
        ["gdb", "-nx", "-batch", "-x", script],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**environment, "PYHARNESS_PYTHON": sys.executable},
    )
    text, position = done.stdout + done.stderr, 0
    for part in [
        "Breakpoint 1 at op:walk::weighted",
        f"Breakpoint 1, forward () at {EAGER}:18",
        "Note: walk::weighted(float32[2, 4], 3.0), hit 1",
        "Tensor float32 [2, 4] cpu",
        "[[5.0, 5.0, 5.0, 5.0],",
        "op_kernel.cpp:11",
        "$1 = 3",
        "native  walk::weighted",
        "python  Scale.forward",
        f"forward () at {EAGER}:19",
        "Note: MulBackward0(",
        "native  MulBackward0",
        "native  torch::autograd::Engine::execute",
    ]:
        found = text.find(part, position)
        assert found >= 0, f"{part!r} is not there (after what came before it) in\n{text}"
        position = found + len(part)
