"""Ops and their C++ functions, found in sources as people write them."""

import pytest
from project_files import OP

from pyharness.project.ops import Source, ops_of
from pyharness.project.reading.cxx_functions import read
from pyharness.project.reading.cxx_tokens import tokens_of
from pyharness.project.samples import of_cxx


def ops(*texts, module="", names=()):
    files = names or [f"csrc/f{number}.cpp" for number, _ in enumerate(texts)]
    return ops_of(
        [Source(name, read(text), in_tests="tests/" in name) for name, text in zip(files, texts, strict=True)], module
    )


def line_of(text, mark):
    return next(number for number, line in enumerate(text.splitlines(), 1) if f"@{mark}" in line)


def test_an_op_its_schema_and_its_kernel():
    (op,) = ops(OP)
    assert (op.full_name, op.schema) == ("shears::shear", "(Tensor x, float by) -> Tensor")
    assert (op.function, op.file, op.line, op.key) == ("shears::shear_cpu", "csrc/f0.cpp", line_of(OP, "first"), "CPU")
    assert [(one.type, one.name) for one in op.parameters] == [("Tensor", "x"), ("double", "by")]
    assert op.place == "native:shears::shear_cpu"


SCHEMA = 'TORCH_LIBRARY(n, m) { m.def("f(Tensor x, " "int n) -> Tensor"); }'
KERNEL = "namespace k { at::Tensor f(const at::Tensor& x, int64_t n = 3) {\n  return x;  // @body\n} }\n"


@pytest.mark.parametrize(
    ("registration", "name"),
    [
        ('TORCH_LIBRARY(n, m) { m.def("f(Tensor x, int n) -> Tensor", &k::f); }', "n::f"),
        ('TORCH_LIBRARY_FRAGMENT(n, m) { m.def("f", k::f); }', "n::f"),
        ('TORCH_LIBRARY_IMPL(n, CPU, m) { m.impl("f", TORCH_FN(k::f)); }', "n::f"),
        ('TORCH_LIBRARY_IMPL(n, CPU, m) { m.impl("f", torch::dispatch(c10::kCPU, TORCH_FN(k::f))); }', "n::f"),
        (f'{SCHEMA} TORCH_LIBRARY(n, m) {{ m.impl("f", c10::kCPU, k::f); }}', "n::f"),
        (f'{SCHEMA} TORCH_LIBRARY(n, m) {{ m.impl("f", c10::DispatchKey::CPU, &k::f); }}', "n::f"),
        ('TORCH_LIBRARY(n, m) { m.def("g() -> int", g).def("f", &k::f); }', "n::f"),
        ('static auto r = torch::RegisterOperators().op("n::g", &g).op("n::f", &k::f);', "n::f"),
        ('static auto r = torch::RegisterOperators("n::f(Tensor x, int n) -> Tensor", &k::f);', "n::f"),
        ('auto r = RegisterOperators().op("n::f", O::options().catchAllKernel<decltype(k::f), &k::f>());', "n::f"),
        ('PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.doc() = "x"; m.def("f", &k::f, "doc", py::arg("x")); }', "_C.f"),
        ('PYBIND11_MODULE(lib, m) { m.def("f", static_cast<Tensor (*)(const Tensor&, int64_t)>(&k::f)); }', "lib.f"),
        ('PYBIND11_MODULE(lib, m) { m.def("f", torch::wrap_pybind_function(k::f)); }', "lib.f"),
        ('NB_MODULE(lib, m) { m.def("f", &k::f); }', "lib.f"),
        ('void bind(py::module_& module) { module.def("f", &k::f); }', "f"),
        ('void init(torch::Library& library) { library.def("n::f(Tensor x, int n) -> Tensor", &k::f); }', "n::f"),
        (f'{SCHEMA} template <typename M> void all(M& m) {{ m.impl("f", &k::f<int>); }}', "n::f"),
        ('TORCH_LIBRARY(n, m) { m.def(R"(f(Tensor x, int n) -> Tensor)", &k::f); }', "n::f"),
        ('TORCH_LIBRARY_EXPAND(TORCH_EXTENSION_NAME, m) { m.def("f", &k::f); }', "_C::f"),
    ],
)
def test_ways_to_register(registration, name):
    found = next(op for op in ops(KERNEL + registration, module="_C") if op.name == "f")
    assert (found.full_name, found.function, found.line) == (name, "k::f", line_of(KERNEL, "body"))
    assert not found.schema or found.schema == "(Tensor x, int n) -> Tensor"


def test_a_method_of_a_class_and_a_submodule_are_no_ops():
    text = KERNEL + 'PYBIND11_MODULE(lib, m) { py::class_<T>(m, "T").def("f", &T::f); auto s = m.def_submodule("s"); }'
    assert ops(text) == []


TORCH_CLASS = """
struct Rotor : torch::CustomClassHolder { Tensor turn(Tensor x, int64_t n) {
  return x;  // @turn
} };
TORCH_LIBRARY(rotors, m) {
  m.class_<Rotor>("Rotor")
      .def(torch::init<double, std::vector<int64_t>>(), "", {torch::arg("speed")})
      .def("turn", &Rotor::turn)
      .def_pickle([](int x) { return x; });
}
"""


def test_a_method_of_a_class_of_torchs():
    (op,) = ops(TORCH_CLASS)
    assert (op.full_name, op.python_name) == ("rotors::Rotor.turn", "torch.classes.rotors.Rotor.turn")
    assert (op.constructor, op.line) == (("double", "std::vector<int64_t>"), line_of(TORCH_CLASS, "turn"))
    elsewhere = TORCH_CLASS.replace("m.class_<Rotor>(", 'static auto r = torch::class_<Rotor>("n", ')
    (other,) = ops(elsewhere)
    assert other.full_name == "rotors::Rotor.turn", "the library around it says the namespace"


def test_a_lambda_is_stopped_in_by_its_line():
    text = 'TORCH_LIBRARY(n, m) {\n  m.def("f(Tensor x) -> Tensor", [](at::Tensor x) {\n    return x;\n  });\n}'
    (op,) = ops(text)
    assert (op.function, op.place) == ("", "native:csrc/f0.cpp:3")


def test_a_lambda_is_called_with_what_it_takes():
    takes = "[](const std::string& name, int count, std::vector<int> sizes = {1, 2}, bool fast = true)"
    lambdas = [
        "[] { return 1; }",
        "[](void) { return 1; }",
        f"{takes} {{ return 1; }}",
        "[](torch::Tensor x) { return x; }",
    ]
    module = "".join(f'm.def("f{number}", {one}, py::arg("x"));' for number, one in enumerate(lambdas))
    found = {op.name: op for op in ops(f"NB_MODULE(lib, m) {{ {module} }}")}
    assert [one.name for one in found["f2"].parameters] == ["name", "count", "sizes", "fast"]
    assert [of_cxx(one.type) for one in found["f2"].parameters] == ['""', "2", "[2]", "False"]
    assert (found["f0"].parameters, found["f1"].parameters) == ((), ())
    assert next(iter(found)) == "f3", "the one with a tensor to look at comes first"


def test_a_name_that_several_functions_have_is_stopped_in_by_its_line():
    text = "struct A { void f() {} };\n" + KERNEL + 'TORCH_LIBRARY(n, m) { m.def("f", &k::f); }'
    assert ops(text)[0].place == f"native:csrc/f0.cpp:{line_of(text, 'body')}"


def test_the_kernel_of_the_cpu_before_those_of_devices_and_ops_before_those_of_tests():
    kernels = (
        "Tensor f_gpu(Tensor x) { return x; }\nTensor f_cpu(Tensor x) { return x; }\nint version() { return 1; }\n"
    )
    impl = (
        'TORCH_LIBRARY_IMPL(n, CUDA, m) { m.impl("f", &f_gpu); } TORCH_LIBRARY_IMPL(n, CPU, m) { m.impl("f", &f_cpu); }'
    )
    test = 'Tensor t(Tensor x) { return x; } TORCH_LIBRARY(t, m) { m.def("t", &t); }'
    library = 'TORCH_LIBRARY(n, m) { m.def("version", &version); m.def("f(Tensor x) -> Tensor"); }'
    names = ["a/tests/t.cpp", "b/library.cpp", "c/impl.cpp", "d/kernels.cpp"]
    found = ops(test, library, impl, kernels, names=names)
    assert [op.full_name for op in found] == ["n::f", "n::version", "t::t"]
    assert (found[0].function, found[0].file, found[0].key) == ("f_cpu", "d/kernels.cpp", "CPU")


def test_what_the_preprocessor_chooses():
    text = """
#ifdef WITH_CUDA
int f() { return 1; }
#else
int f() { return 2; }  // @cpu
#endif
#if 0
int g() { return 3; } {{{ (
#endif
#define MACRO(x) { \\
   unbalanced (
int h() { return 4; }  // @h
"""
    found = {one.name: one.line for one in read(text).functions}
    assert found == {"f": line_of(text, "cpu"), "h": line_of(text, "h")}


def test_what_looks_like_a_function_and_is_none():
    text = """
int table[] = {1, 2};
auto made = make([] { return 1; });
struct S : Base<int> { S() : a(1), b(2) {} int a = f(3); };
template <typename T, typename = std::enable_if_t<(sizeof(T) > 1)>> T g(T x) { if (x) { return x; } return x; }
extern "C" { int in_c(void) { return 1; } }
namespace a::b { inline namespace v1 { std::tuple<int, int> S::method(int, std::vector<int> y) const noexcept { } } }
class Op : public torch::autograd::Function<Op> { static Tensor forward(Context* ctx, Tensor x) { return x; } };
"""
    file = read(text)
    named = {one.name: [p.name for p in one.parameters] for one in file.functions}
    assert {"g", "in_c", "a::b::v1::S::method", "Op::forward"} <= set(named)
    assert not {"if", "table", "made", "make", "f"} & set(named)
    assert (named["in_c"], named["a::b::v1::S::method"], named["Op::forward"]) == ([], ["", "y"], ["ctx", "x"])


@pytest.mark.parametrize(
    "text", ["", "}}}", "((((", '"open', "/* open", 'R"x(open', "TORCH_LIBRARY(", "#if\n#else\n#else", "m.def("]
)
def test_damaged_files_are_read_without_an_error(text):
    assert tokens_of(text)
    assert ops(text) == []
