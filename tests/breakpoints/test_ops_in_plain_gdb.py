"""``ph-break op:`` and ``node:`` in a gdb that is alone: no debugpy, no controller."""

from kit import gdb as plain_gdb
from kit import needs
from kit.names import qualified
from kit.paths import PROGRAMS

pytestmark = needs.a_plain_build
EAGER = PROGRAMS / "op_eager.py"


def test_at_an_op_into_its_kernel_and_at_a_node(extension, tmp_path):
    gdb = plain_gdb.Gdb(
        tmp_path,
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
        program=EAGER,
        arguments=extension,
    )
    gdb.has(
        "Breakpoint 1 at op:walk::weighted",
        f"Breakpoint 1, forward () at {EAGER}:18",
        "Note: walk::weighted(float32[2, 4], 3.0), hit 1",
        "Tensor float32 [2, 4] cpu",
        "[[5.0, 5.0, 5.0, 5.0],",
        "op_kernel.cpp:11",
        "$1 = 3",
        "native  walk::weighted",
        f"python  {qualified('Scale.forward')}",
        f"forward () at {EAGER}:19",
        "Note: MulBackward0(",
        "native  MulBackward0",
        "native  torch::autograd::Engine::execute",
    )
