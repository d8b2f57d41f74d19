"""Frames of inductor's kernels in a merged stack: their own name, and the node of the line in the call that runs."""

from pathlib import Path

import pytest

from pyharness.model.frames import Frame, FxPlace
from pyharness.model.kernel_files import is_cxx, remember, save
from pyharness.model.kernel_frames import has_map, is_kernel, kernel_called, named, standing
from pyharness.model.kernel_map import GraphNode, KernelLine, KernelMap, KernelMaps, KernelUse, digest_of

SOURCE = "\n#include <cpp_prefix.h>\nvoid kernel() {\n    auto tmp0 = in_ptr0[x0].erf();\n}\n"
NODES = tuple(
    GraphNode(name, "aten.erf", f"blocks.{block}", "/model.py", 9, "gelu")
    for block, name in enumerate(("erf", "erf_1"))
)
USES = tuple(KernelUse((node.name,), (KernelLine(4, node.name, "value", "tmp0"),)) for node in NODES)
WRAPPER = """
cpp_fused_gelu_0 = async_compile.cpp_pybinding(['float*'], r'''...''')
def call(args):
    cpp_fused_gelu_0(buf0)
    other(buf0)
    cpp_fused_gelu_0(buf1)
"""


@pytest.fixture
def kernel(tmp_path):
    path = tmp_path / "c123.main.cpp"
    path.write_text(f"{SOURCE}\n// Python bindings to call kernel():\nPyObject* kernel_py() {{}}\n")
    return str(path)


@pytest.fixture
def wrapper(tmp_path, kernel):
    path = tmp_path / "c456.py"
    path.write_text(WRAPPER)
    save(WRAPPER, KernelMaps("2.13.0", "forward", NODES, (KernelMap("cpp_fused_gelu_0", digest_of(SOURCE), USES),)))
    remember(kernel, WRAPPER)
    return str(path)


def stack(kernel, *callers, function="kernel", line=4):
    python = [Frame("python", "call", file, number) for file, number in callers]
    return [Frame("native", function, kernel, line), Frame("native", "kernel_py", kernel, 7), *python]


@pytest.mark.parametrize(("line", "node"), [(4, "erf"), (6, "erf_1")])
@pytest.mark.parametrize("function", ["kernel", "kernel._omp_fn.0", "kernel._omp_fn.0(void)"])
def test_a_line_of_a_kernel_is_that_of_the_call_that_runs(kernel, wrapper, function, line, node):
    frames = named(stack(kernel, (wrapper, line), ("/model.py", 3), function=function))
    assert frames[0].function == "cpp_fused_gelu_0"
    block = [each.name for each in NODES].index(node)
    assert frames[0].fx == FxPlace(node, f"blocks.{block}", "/model.py:9")
    assert [frame.function for frame in frames[1:]] == ["kernel_py", "call", "call"]


LAYERS = """
cpp_fused_gelu_0 = async_compile.cpp_pybinding(['float*'], '''...''')
cpp_fused_gelu_1 = async_compile.cpp_pybinding(['float*'], '''...''')
def call(args):
    cpp_fused_gelu_0(buf0)
    cpp_fused_gelu_1(buf1)
"""


@pytest.mark.parametrize(("line", "name", "node"), [(5, "cpp_fused_gelu_0", "erf"), (6, "cpp_fused_gelu_1", "erf_1")])
def test_kernels_of_one_text_are_told_apart_by_the_line_that_calls(tmp_path, kernel, line, name, node):
    """Up to torch 2.9 each layer has a kernel of its own, and all of one text share a file."""
    path = tmp_path / "c789.py"
    path.write_text(LAYERS)
    kernels = (KernelMap(f"cpp_fused_gelu_{number}", digest_of(SOURCE), (use,)) for number, use in enumerate(USES))
    save(LAYERS, KernelMaps("2.8.0", "forward", NODES, tuple(kernels)))
    remember(kernel, LAYERS)
    frame = named(stack(kernel, (str(path), line)))[0]
    assert frame.function == name
    assert frame.fx is not None
    assert frame.fx.node == node
    assert kernel_called(Frame("python", "call", str(path), line)) == name
    assert not kernel_called(Frame("python", "call", str(path), 4))
    assert not kernel_called(Frame("python", "call", "/gone.py", 4))


HASH = "a67r46dp3z4py3vyyeotxy374e7dljorz3ykirhol6xu2xnkyqq"


@pytest.mark.parametrize(
    ("name", "is_torchs"),
    [
        (f"c{HASH}.main.cpp", True),
        (f"c{HASH}.cpp", True),
        (f"d{HASH}.cpp", False),
        (f"c{HASH}a.cpp", False),
        ("cells.cpp", False),
    ],
)
def test_files_of_generated_cxx_are_known_by_their_names(name, is_torchs):
    """The second is how torch 2.6 and 2.7 name them."""
    assert is_cxx(name) is is_cxx(f"/cache/xa/{name}") is is_torchs


MASKED = """
void kernel() {
    auto tmp3 = [&]
    {
        auto tmp2 = in_ptr0[x0].erf();
        return tmp2;
    }
    ()
    ;
    auto tmp4 = 1;
}
"""


def test_a_function_within_a_kernel_belongs_to_it_and_a_line_to_the_statement_around_it(tmp_path):
    lines = (KernelLine(3, "erf_1", "value", "tmp3"), KernelLine(5, "erf", "value", "tmp2"))
    path, wrapper = tmp_path / "c1.main.cpp", tmp_path / "c2.py"
    path.write_text(f"{MASKED}\n// Python bindings to call kernel():\n")
    wrapper.write_text(WRAPPER)
    use = KernelUse(("erf", "erf_1"), lines)
    save(WRAPPER, KernelMaps("2.13.0", "forward", NODES, (KernelMap("cpp_fused_gelu_0", digest_of(MASKED), (use,)),)))
    remember(str(path), WRAPPER)

    def fx_at(*places):
        native = [Frame("native", function, str(path), line) for function, line in places]
        frames = named([*native, Frame("native", "kernel_py", str(path), 30), Frame("python", "call", str(wrapper), 4)])
        return [(each.function, each.fx and each.fx.node) for each in frames[: len(places)]]

    inside, outside = "cpp_fused_gelu_0::operator()", "cpp_fused_gelu_0"
    assert fx_at(("operator()", 5), ("kernel", 8)) == [(inside, "erf"), (outside, "erf_1")]
    assert fx_at(("kernel::<lambda()>", 6), ("kernel._omp_fn.0", 9)) == [(inside, "erf_1"), (outside, "erf_1")]
    assert fx_at(("kernel", 10)) == [(outside, None)]
    assert fx_at(("operator()", 5)) == [("operator()", None)]


def test_a_template_is_of_its_node_as_a_whole(tmp_path):
    """A template's own functions keep their names; what torch runs in parallel for it is a function within it."""
    path, wrapper = tmp_path / "c1.main.cpp", tmp_path / "c2.py"
    path.write_text(f"{MASKED}\n// Python bindings to call kernel():\n")
    wrapper.write_text(WRAPPER)
    use = KernelUse(("erf", "erf_1"), (KernelLine(3, "erf_1", "value", "tmp3"),), template="erf")
    save(WRAPPER, KernelMaps("2.13.0", "forward", NODES, (KernelMap("cpp_fused_gelu_0", digest_of(MASKED), (use,)),)))
    remember(str(path), WRAPPER)
    parallel = Frame("native", "operator()", "/torch/include/ATen/Parallel-inl.h", 37)
    places = (("micro_gemm<false>", 10), ("operator()", 10), None, ("kernel", 1))
    native = [Frame("native", each[0], str(path), each[1]) if each else parallel for each in places]
    frames = named([*native, Frame("python", "call", str(wrapper), 4)])[: len(places)]
    assert [(each.function, each.fx and each.fx.node) for each in frames] == [
        ("micro_gemm<false>", "erf"),
        ("cpp_fused_gelu_0::operator()", "erf"),
        ("operator()", None),
        ("cpp_fused_gelu_0", "erf"),
    ]


@pytest.mark.parametrize("callers", [(), (("/another.py", 4),)])
@pytest.mark.usefixtures("wrapper")
def test_where_it_cannot_be_told_which_call_runs_the_kernel_has_its_name_alone(kernel, callers):
    frame = named(stack(kernel, *callers))[0]
    assert (frame.function, frame.fx) == ("cpp_fused_gelu_0", None)


def test_a_line_that_works_for_no_node_has_none(kernel, wrapper):
    frame = named(stack(kernel, (wrapper, 4), line=5))[0]
    assert (frame.function, frame.fx) == ("cpp_fused_gelu_0", None)


@pytest.mark.parametrize("function", ["kernel_py", "my_kernel"])
def test_other_functions_of_a_kernels_file_are_as_they_were(kernel, wrapper, function):
    frames = stack(kernel, (wrapper, 4), function=function)
    assert named(frames) == frames


def test_a_kernel_of_which_nobody_knows_is_as_it_was(kernel):
    frames = stack(kernel, ("/nowhere.py", 4))
    assert named(frames) == frames
    assert named(stack("/gone/c9.main.cpp")) == stack("/gone/c9.main.cpp")


COMPILED = 'extern "C"  void  kernel(const float* in_ptr0)\n{\n}\n'


def test_a_kernel_without_a_map_has_the_name_that_its_wrapper_calls_it_by(tmp_path):
    path = tmp_path / "c7.main.cpp"
    path.write_text(f"{COMPILED}\n// Python bindings to call kernel():\n")
    wrapper = tmp_path / "c8.py"
    wrapper.write_text(f"cpp_fused_sin_0 = async_compile.cpp_pybinding(['const float*'], r'''{COMPILED}''')\n")
    frame = named(stack(str(path), (str(wrapper), 4)))[0]
    assert (frame.function, frame.fx) == ("cpp_fused_sin_0", None)
    assert is_kernel(str(path))
    assert not has_map(str(path))
    assert [each.kernel.name for each in standing(str(path), "kernel", Frame("python", "call", str(wrapper), 4))] == [
        "cpp_fused_sin_0"
    ]
    other = tmp_path / "c9.py"
    other.write_text("def call(args): ...\n")
    assert named(stack(str(path), (str(other), 1)))[0].function == "kernel"


@pytest.mark.parametrize("changed", ["kernel", "map"])
def test_a_map_that_does_not_fit_its_kernel_says_nothing_of_it(kernel, wrapper, changed):
    assert named(stack(kernel, (wrapper, 4)))[0].fx is not None
    path = Path(kernel)
    if changed == "kernel":
        path.write_text(path.read_text().replace("erf", "exp"))
    else:
        save(
            WRAPPER, KernelMaps("2.13.0", "forward", NODES, (KernelMap("cpp_fused_gelu_0", digest_of("other"), USES),))
        )
    assert not has_map(kernel)
    assert named(stack(kernel, (wrapper, 4)))[0].fx is None
