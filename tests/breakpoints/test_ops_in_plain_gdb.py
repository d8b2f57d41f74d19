"""``ph-break op:`` and ``node:`` in a gdb that is alone: no debugpy, no controller."""

import breakpoint_build
import plain_gdb_script

EAGER = breakpoint_build.PROGRAMS / "op_eager.py"


@plain_gdb_script.needed
def test_at_an_op_into_its_kernel_and_at_a_node(environment, extension, tmp_path):
    commands = [
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
    plain_gdb_script.says(
        plain_gdb_script.run(commands, environment, tmp_path),
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
    )
