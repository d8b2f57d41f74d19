"""What the text of a kernel and its wrapper says: parameters, arguments, ends of statements, indices."""

import pytest

from pyharness.model.kernel_text import (
    computed,
    cxx_sources,
    defined_in,
    has_cxx_wrapper,
    is_written_first,
    kernels_of,
    names_in,
    parameters,
    passed,
    passed_in_cxx,
    place_text,
    statement_end,
)

KERNEL = """
#include <torch/csrc/inductor/cpp_prefix.h>
extern "C"  void  kernel(const float* in_ptr0,
                       bfloat16* in_out_ptr0,
                       const int64_t ks0)
{
    auto tmp5 = [&]
    {
        return decltype(tmp3())::blendv(tmp6, tmp3(), tmp4);
    }
    ()
    ;
    auto tmp7 = tmp5 + tmp6; // and (so on
    if (tmp7)
    {
        tmp7 = 0;
    }
    auto tmp8 = 1;
}
"""


def test_the_parameters_of_a_kernel_are_in_its_signature():
    found = parameters(KERNEL)
    assert [(each.name, each.type, each.is_buffer) for each in found] == [
        ("in_ptr0", "const float*", True),
        ("in_out_ptr0", "bfloat16*", True),
        ("ks0", "const int64_t", False),
    ]
    assert parameters("int main() {}") == ()


@pytest.mark.parametrize("prefix", ["r", ""], ids=["raw", "up to torch 2.9"])
def test_a_wrapper_defines_kernels(prefix):
    wrapper = f"cpp_fused_0 = async_compile.cpp_pybinding(['float*'], {prefix}'''{KERNEL}''')\n\ncpp_fused_0(buf0)\n"
    assert kernels_of(wrapper) == [("cpp_fused_0", KERNEL)]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("        cpp_fused_0(buf0, primals_3, s77)", ("buf0", "primals_3", "s77")),
        ("cpp_fused_0(reinterpret_tensor(buf0, (2, 3), (3, 1), 0))", ("reinterpret_tensor(buf0, (2, 3), (3, 1), 0)",)),
        ("cpp_fused_1(buf0)", ()),
        ("buf2 = cpp_fused_0(buf0)", ()),
        ("cpp_fused_0(", ()),
    ],
)
def test_a_wrappers_line_says_what_is_passed(line, expected):
    assert passed(line, "cpp_fused_0") == expected


def test_a_statement_ends_behind_its_brackets():
    lines = KERNEL.split("\n")
    begins = {text.strip()[:9]: number for number, text in enumerate(lines, 1)}
    assert statement_end(lines, begins["auto tmp5"]) == begins["auto tmp7"] - 1
    assert statement_end(lines, begins["auto tmp7"]) == begins["auto tmp7"]


def test_a_statement_ends_within_the_block_that_it_is_in():
    lines = ["{", "    auto tmp0 = f(", "        1)", "}", "auto tmp1 = 2;"]
    assert statement_end(lines, 2) == 3


@pytest.mark.parametrize(
    ("expression", "value"),
    [("x0 // 20", 2), ("(x0 % 20)", 7), ("-x1 + 3*x0", 136), ("min(x0, 5)", 5), ("ks0 - 16*((ks0//16))", 4)],
)
def test_an_index_is_computed_from_the_loops_variables(expression, value):
    assert computed(expression, {"x0": 47, "x1": 5, "ks0": 20}.__getitem__) == value


@pytest.mark.parametrize("expression", ["x0 / 2", "__import__('os')", "x0.real", "x0 // 0", "x0 +", "'a'", "1.5"])
def test_what_is_no_index_is_refused(expression):
    with pytest.raises(ValueError, match=r"no index|divides by zero"):
        computed(expression, lambda _name: 4)


def test_the_variables_of_an_index_are_named_once():
    assert names_in("x1 + 16*x0 + x1_inner + min(x0, 3)") == ("x1", "x0", "x1_inner")


def test_elements_are_told_by_their_dimensions():
    assert place_text((2, 7)) == "row 2, column 7"
    assert place_text((3,)) == "element 3"
    assert place_text((1, 2, 3)) == "dimension 0: 1, dimension 1: 2, dimension 2: 3"


def test_a_buffer_that_is_written_before_it_is_read_is_known():
    head = 'extern "C"  void  kernel(float* in_out_ptr0, float* in_out_ptr1)\n{\n'
    text = f"{head}    in_out_ptr0[x0] = tmp1;\n    tmp2 = in_out_ptr0[x0];\n    tmp3.store(in_out_ptr1 + x0);\n}}\n"
    assert is_written_first(text, "in_out_ptr0")
    assert is_written_first(text, "in_out_ptr1")
    again = "    auto out_ptr1 = in_out_ptr0;\n    auto in_ptr3 = in_out_ptr1;\n    auto tmp9 = in_ptr3[x0];\n"
    text = f"{head}{again}    in_out_ptr0[x0] = tmp1;\n    tmp2 = out_ptr1[x0];\n    in_out_ptr1[x0] = tmp2;\n}}\n"
    assert is_written_first(text, "in_out_ptr0"), "its second name reads it later"
    assert not is_written_first(text, "in_out_ptr1"), "its second name reads it first"
    block = (
        "transpose_mxn<float,static_cast<int64_t>(16),false>(tmp0, static_cast<int64_t>(16), in_out_ptr0 + x0, 48L);"
    )
    assert is_written_first(f"{head}    {block}\n}}\n", "in_out_ptr0")
    assert not is_written_first(
        f"{head}    auto tmp0 = in_out_ptr0[x0];\n    in_out_ptr0[x0] = tmp0;\n}}\n", "in_out_ptr0"
    )


CXX = """
#include "wrapper.h"
extern "C"  void  cpp_fused_add_0(float* in_out_ptr0,
                       const float* in_ptr0);

void inductor_entry_impl(AtenTensorHandle* input_handles) {
    cpp_fused_add_0((float*)(buf1.data_ptr()), (const float*)(f(a, b).data_ptr()), 16L, s0);
} // inductor_entry_impl

#include "prefix.h"
extern "C"  void  cpp_fused_add_0(float* in_out_ptr0,
                       const float* in_ptr0)
{
    if (true) {
        in_out_ptr0[0] += in_ptr0[0];
    }
}

extern "C" EXPORTED void cpp_1(float* out_ptr0)
{
}
"""


def test_kernels_of_a_wrapper_in_cxx_are_those_that_a_file_defines():
    first, second = defined_in(CXX)
    assert (first.name, second.name) == ("cpp_fused_add_0", "cpp_1")
    assert CXX.splitlines()[first.line - 1].startswith('extern "C"')
    assert first.text.splitlines()[-1] == "}"
    assert "in_out_ptr0[0] += in_ptr0[0];" in first.text
    assert [each.name for each in parameters(CXX, "cpp_1")] == ["out_ptr0"]
    assert [each.name for each in parameters(CXX, "cpp_fused_add_0")] == ["in_out_ptr0", "in_ptr0"]
    assert parameters(CXX) == ()
    assert has_cxx_wrapper(CXX)
    assert not has_cxx_wrapper(first.text)


def test_the_cxx_in_a_module_is_the_wrapper_and_the_kernels_where_they_are_apart():
    one = f'import x\n\ncpp_wrapper_src = (\nr"""{CXX}"""\n)\n\nf = load(cpp_wrapper_src)\n'
    assert cxx_sources(one) == [(3, CXX)]
    apart = f'{one}\nkernel_src = (\nr"""{CXX}"""\n)\n'
    assert [text for _, text in cxx_sources(apart)] == [CXX, CXX]
    assert cxx_sources("kernel = async_compile.cpp_pybinding(['float*'], r'''x''')\n") == []


def test_what_a_wrapper_in_cxx_passes_is_its_variables_and_numbers():
    line = next(each for each in CXX.splitlines() if each.startswith("    cpp_fused_add_0("))
    given = passed_in_cxx(line, "cpp_fused_add_0")
    assert given == ("buf1", "(const float*)(f(a, b).data_ptr())", "16L", "s0")
    assert passed_in_cxx(line, "cpp_fused") == ()
    assert passed_in_cxx("cpp_1(x", "cpp_1") == ()
