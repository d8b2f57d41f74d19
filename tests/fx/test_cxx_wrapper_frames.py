"""Frames of wrappers in C++ and of their kernels: the node of the line in the call that runs, from what is kept."""

from pathlib import Path

import pytest

from pyharness.model.frames import Frame
from pyharness.model.kernel_files import remember, save
from pyharness.model.kernel_frames import has_map, mapped_lines, named, standing
from pyharness.model.kernel_map import (
    GraphNode,
    KernelLine,
    KernelMap,
    KernelMaps,
    KernelUse,
    WrapperCall,
    digest_of,
    load,
)
from pyharness.model.kernel_text import defined_in
from pyharness.model.wrapper_map import map_of_cxx

WRAPPER = """
extern "C"  void  cpp_fused_erf_0(float* in_out_ptr0);
void AOTInductorModel::run_impl(AtenTensorHandle* input_handles) {
    cpp_fused_erf_0((float*)(buf0.data_ptr()));
    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_cpu_mm_out(buf1, buf0, arg0_1));
    cpp_fused_erf_0((float*)(buf1.data_ptr()));
}
"""
KERNELS = """// Where the wrapper lies
extern "C"  void  cpp_other_1(float* in_out_ptr0)
{
}

extern "C"  void  cpp_fused_erf_0(float* in_out_ptr0)
{
    auto tmp0 = in_out_ptr0[0].erf();
}
"""
NAMES = ("erf", "mm", "erf_1")
NODES = tuple(GraphNode(name, name, f"blocks.{block}", "/model.py", 9) for block, name in enumerate(NAMES))
USES = tuple(KernelUse((name,), (KernelLine(3, name, "value", "tmp0"),)) for name in ("erf", "erf_1"))
CALLS = tuple(WrapperCall(line, (name,)) for line, name in zip((4, 5, 6), NAMES, strict=True))
COMMANDS = "\n// Compile cmd\n// g++ /somewhere.cpp\n"


@pytest.fixture
def files(tmp_path):
    """The file of the wrapper, and that of the kernels, after both were compiled."""
    paths = [tmp_path / "c1.wrapper.cpp", tmp_path / "c2.kernel.cpp"]
    text = next(each.text for each in defined_in(KERNELS) if each.name == "cpp_fused_erf_0")
    maps = KernelMaps(
        "2.13.0", "inference", NODES, (KernelMap("cpp_fused_erf_0", digest_of(text), USES),), CALLS, is_cxx=True
    )
    assert load(maps.dump()) == maps
    save(WRAPPER, maps)
    for path, content in zip(paths, (WRAPPER, KERNELS), strict=True):
        path.write_text(content)
        remember(str(path), WRAPPER)
        path.write_text(content + COMMANDS)
    return [str(path) for path in paths]


def stack(files, line, function="cpp_fused_erf_0", at=8):
    wrapper, kernel = files
    return [
        Frame("native", function, kernel, at),
        Frame("native", "torch::aot_inductor::AOTInductorModel::run_impl", wrapper, line),
        Frame("native", "main", "/main.cpp", 3),
    ]


@pytest.mark.parametrize(("line", "node", "block"), [(4, "erf", 0), (6, "erf_1", 2)])
@pytest.mark.parametrize("function", ["cpp_fused_erf_0", "cpp_fused_erf_0._omp_fn.0(void)"])
def test_a_line_is_that_of_the_call_in_the_frame_of_the_wrapper(files, function, line, node, block):
    frames = named(stack(files, line, function))
    assert frames[0].function == "cpp_fused_erf_0"
    assert [(each.fx.node, each.fx.module) for each in frames[:2]] == [(node, f"blocks.{block}")] * 2
    assert frames[2] == stack(files, line)[2]
    (call,) = standing(files[1], function, stack(files, line)[1])
    assert call.use.nodes == (node,)


def test_where_no_wrapper_is_on_the_stack_all_calls_may_run(files):
    frame = named(stack(files, 4)[:1])[0]
    assert (frame.function, frame.fx) == ("cpp_fused_erf_0", None)
    assert len(standing(files[1], "cpp_fused_erf_0", None)) == 2


def test_lines_and_functions_that_work_for_no_node_have_none(files):
    assert named(stack(files, 4, at=7))[0].fx is None
    assert named(stack(files, 3))[1].fx is None
    assert named(stack(files, 4, "cpp_other_1"))[0] == stack(files, 4, "cpp_other_1")[0]


def test_both_files_have_lines_to_stop_at(files):
    wrapper, kernel = files
    assert (mapped_lines(wrapper), mapped_lines(kernel)) == ({4, 5, 6}, {8})
    assert has_map(wrapper)
    assert has_map(kernel)
    assert [(each.line, each.node) for each in map_of_cxx(wrapper).lines] == [(4, "erf"), (5, "mm"), (6, "erf_1")]
    assert map_of_cxx(kernel) is None


def test_a_kernel_that_was_changed_since_has_no_map(files):
    path = Path(files[1])
    path.write_text(KERNELS.replace("erf()", "sin()"))
    assert named(stack(files, 4))[0].fx is None
    assert mapped_lines(files[1]) == set()
