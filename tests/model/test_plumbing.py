"""Which frames are machinery."""

import pytest

from pyharness.model.plumbing import native_family, python_family, qualified_name

TORCH = "/venv/lib/python3.11/site-packages/torch/lib/libtorch_cpu.so"
BINDINGS = "/venv/lib/python3.11/site-packages/torch/lib/libtorch_python.so"
USER = "/home/me/ext/_C.so"


@pytest.mark.parametrize(
    ("function", "name"),
    [
        ("at::Tensor c10::Dispatcher::call<at::Tensor, c10::ArrayRef<long> >(X const&) const", "c10::Dispatcher::call"),
        ("void (anonymous namespace)::kernel<float>(int)", "anonymous::kernel"),
        ("Node::operator()(std::vector<int>&&)", "Node::operator()"),
        ("std::ostream& operator<< <int>(X)", "operator<<"),
        ("operator new(unsigned long)", "operator new"),
        ("f(int)::{lambda(long)#1}::operator()(long) const", "f"),
        ("decltype(auto) c10::guts::f<int>(int)", "c10::guts::f"),
        ("_PyEval_EvalFrameDefault", "_PyEval_EvalFrameDefault"),
        ("Foo::operator bool", "Foo::operator bool"),
        ("Foo::operator bool() const", "Foo::operator bool"),
        ("Foo::operator std::vector<int>*() const", "Foo::operator std::vector<int>*"),
        ("Foo Foo::operator+(Foo const&) const", "Foo::operator+"),
        ('long operator"" _ms(unsigned long long)', 'operator"" _ms'),
        ("operator new[](unsigned long)", "operator new[]"),
        ("void ns::my_operator(int)", "ns::my_operator"),
        ("rusty::apply::{closure#1}::{closure#0}", "rusty::apply::closure#1::closure#0"),
        ("core::iter::{impl#2}::fold<f64, &f64>", "core::iter::impl#2::fold"),
    ],
)
def test_qualified_names(function, name):
    assert qualified_name(function) == name


@pytest.mark.parametrize(
    ("function", "library", "file", "family"),
    [
        ("_PyEval_EvalFrameDefault", "/usr/lib/libpython3.11.so.1.0", "Python/ceval.c", "interpreter"),
        ("os_fork", "/usr/bin/python3.11", None, "interpreter"),
        ("math_sin", "/usr/lib/python3.11/lib-dynload/math.so", None, "interpreter"),
        (
            "c10::Dispatcher::call<int>(int)",
            USER,
            "/venv/torch/include/ATen/core/dispatch/Dispatcher.h",
            "torch dispatcher",
        ),
        ("at::_ops::mul_Tensor::redispatch(X)", TORCH, None, "torch dispatcher"),
        ("torch::autograd::VariableType::(anonymous namespace)::mul_Tensor(X)", TORCH, None, "torch dispatcher"),
        ("torch::jit::invokeOperatorFromPython(X)", BINDINGS, None, "torch dispatcher"),
        ("torch::autograd::THPVariable_add(_object*)", BINDINGS, None, "torch bindings"),
        ("THPEngine_run_backward(_object*)", BINDINGS, None, "torch bindings"),
        ("unknown_function", BINDINGS, None, "torch bindings"),
        ("torch::autograd::Node::operator()(X)", TORCH, None, "autograd engine"),
        ("torch::autograd::Engine::thread_main(X)", TORCH, None, "autograd engine"),
        ("pybind11::cpp_function::dispatcher(_object*)", USER, "/venv/torch/include/pybind11/pybind11.h", "pybind11"),
        ("operator()", USER, "/venv/torch/include/pybind11/pybind11.h", "pybind11"),
        ("nanobind::detail::nb_func_vectorcall(_object*)", USER, "/venv/nanobind/src/nb_func.cpp", "nanobind"),
        ("_FUN", USER, "/venv/nanobind/include/nanobind/nb_func.h", "nanobind"),
        ("std::vector<int>::push_back(int)", USER, "/usr/include/c++/12/bits/stl_vector.h", "the C++ library"),
        ("parallel_for", USER, "/venv/torch/include/ATen/Parallel-inl.h", "torch"),
        ("apply", USER, "/venv/torch/include/torch/csrc/autograd/custom_function.h", "autograd engine"),
        ("call", USER, "/venv/torch/include/ATen/core/boxing/impl/boxing.h", "torch dispatcher"),
        ("push_back", USER, "/usr/include/c++/12/bits/stl_vector.h", "the C++ library"),
        (
            "pyo3::gil::GILPool::new",
            USER,
            "/home/me/.cargo/registry/src/github.com-1ecc/pyo3-0.23.3/src/gil.rs",
            "PyO3",
        ),
        ("rayon_core::join::join", USER, "/usr/share/cargo/registry/rayon-core-1.10.1/src/join/mod.rs", "rayon-core"),
        ("std::panicking::catch_unwind", USER, "/rustc/59807616/library/std/src/panicking.rs", "the Rust library"),
        ("hashbrown::map::insert", USER, "/rust/deps/hashbrown-0.16.1/src/map.rs", "the Rust library"),
        ("rows", USER, "/opt/conda/include/eigen3/Eigen/src/Core/DenseStorage.h", "Eigen"),
        ("get", USER, "/home/me/third_party/include/boost/smart_ptr/shared_ptr.hpp", "Boost"),
        ("operator()", USER, "/opt/conda/include/xtensor/xfunction.hpp", "xtensor"),
        ("at", USER, "/usr/local/include/opencv4/opencv2/core/mat.inl.hpp", "OpenCV"),
        ("train", USER, "/home/me/boost/train.cpp", ""),
        ("__rust_try", USER, None, "the Rust library"),
        ("rusty::apply", USER, "/home/me/rusty/src/lib.rs", ""),
        ("__libc_start_main", "/lib/x86_64-linux-gnu/libc.so.6", None, "libc"),
        ("__futex_wait", "/lib/x86_64-linux-gnu/libc.so.6", None, "libc"),
        ("gomp_thread_start", "/venv/torch/lib/libgomp-a34b3233.so.1", None, "OpenMP"),
        ("blas_thread_server", "/venv/numpy.libs/libscipy_openblas64_-32a4b2a6.so", None, "libscipy_openblas64_"),
        # what a user wants to see
        ("at::native::(anonymous namespace)::mul_kernel(X)", TORCH, None, ""),
        ("torch::autograd::generated::MulBackward0::apply(X)", TORCH, None, ""),
        ("torch::autograd::CppNode<mine::Norm>::apply(X)", USER, "/venv/torch/include/torch/csrc/x.h", ""),
        ("torch::autograd::Engine::execute(X)", TORCH, None, ""),
        ("mine::kernel(at::Tensor const&)", USER, "/home/me/ext/kernel.cpp", ""),
        ("c10_like_name", USER, None, ""),
        ("helper", USER, None, ""),
        ("??", None, None, ""),
    ],
)
def test_native(function, library, file, family):
    assert native_family(function, library, file) == family


@pytest.mark.parametrize(
    ("function", "file", "family"),
    [
        ("Module._call_impl", "/v/site-packages/torch/nn/modules/module.py", "torch"),
        ("OpOverload.__call__", "/v/site-packages/torch/_ops.py", "torch"),
        ("no_grad.<locals>.decorate_context", "/v/site-packages/torch/utils/_contextlib.py", "torch"),
        ("_run_code", "<frozen runpy>", "runpy"),
        ("Thread._bootstrap", "/usr/lib/python3.11/threading.py", "threading"),
        ("_call_with_frames_removed", "<frozen importlib._bootstrap>", "import"),
        ("PyDB.run", "/v/site-packages/debugpy/_vendored/pydevd/pydevd.py", "the debugger"),
        # what a user wants to see
        ("Tensor.backward", "/v/site-packages/torch/_tensor.py", ""),
        ("Adam.step", "/v/site-packages/torch/optim/adam.py", ""),
        ("Thread.run", "/usr/lib/python3.11/threading.py", ""),
        ("_private", "/home/me/train.py", ""),
        ("<module>", None, ""),
        ("HookCaller.__call__", "/venv/lib/python3.11/site-packages/pluggy/_caller.py", "pytest"),
        ("pytest_pyfunc_call", "/venv/lib/python3.11/site-packages/_pytest/python.py", "pytest"),
        ("test_it", "/home/me/pytest/test_it.py", ""),
        ("GridExecutor.__call__", "/venv/lib/python3.13/site-packages/triton/runtime/interpreter.py", "triton"),
    ],
)
def test_python(function, file, family):
    assert python_family(function, file) == family
