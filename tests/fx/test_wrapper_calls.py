"""Which lines of a wrapper compute nodes by functions of torch's own."""

import pytest

from pyharness.fx.inductor.wrappers import calls_in


@pytest.mark.parametrize(
    ("line", "computes"),
    [
        ("    extern_kernels.mm(arg0, arg1, out=buf0)", True),
        ("        aten.scatter_reduce_.two(buf4,1,buf5,buf1, reduce='sum')", True),
        ("    buf3 = torch.ops.aten.sort.stable(arg0)", True),
        ("    buf0 = empty_strided_cpu((2, 3), (3, 1), torch.float32)", False),
        ("    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_cpu_mm_out(buf0, arg0_1, arg1_1));", True),
        ("    aoti_torch_cpu_scatter_reduce_two_out(buf4, buf4, 1, buf5, buf1, 1);", True),
        ("    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_empty_strided(2, sizes, strides, type));", False),
        ("    cpp_fused_add_0(arg0_1, buf0)", False),
    ],
)
def test_a_call_of_torchs_is_of_the_node_that_was_about_to_be_written(line, computes):
    calls = list(calls_in(f"def call(args):\n{line}\n", (), [(1, "earlier"), (2, "node"), (3, "later")]))
    assert [(call.line, call.nodes) for call in calls] == ([(2, ("node",))] if computes else [])
