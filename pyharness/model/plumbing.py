"""Which frames are machinery between a line of Python and the kernel it runs, and whose machinery that is."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from pyharness.model.glue import glue_family, is_written_by_swig
from pyharness.model.user_code import STANDARD_LIBRARY, is_user_binary, is_user_source

if TYPE_CHECKING:
    from collections.abc import Iterable

DEBUGGER = "the debugger"
SIGNAL_HANDLER = "<signal handler called>"
"""The name of the frame that the kernel makes for a handler, as gdb has it: its caller was interrupted there."""
_WHOLE = (
    (re.compile(r"/(libpython\d[^/]*|(lib64/)?python[\d.]*[a-z]*)$"), "interpreter"),
    (re.compile(r"/_cffi_backend\."), "cffi"),
    (re.compile(r"/libffi[-.][^/]*$"), "libffi"),
    (re.compile(r"/_(trap|guard)\.abi3\.so$"), DEBUGGER),
)
"""Libraries in which every function is machinery."""
_LIBRARIES = (
    (re.compile(r"/ld-[^/]*\.so|/lib(c|m|dl|rt|pthread|util)[.-][^/]*$|^\["), "libc"),
    (re.compile(r"/lib(stdc\+\+|c\+\+|gcc_s)[.-][^/]*$"), "the C++ library"),
    (re.compile(r"/lib(gomp|iomp\d|omp)[^/]*$"), "OpenMP"),
    (re.compile(r"/libtorch_python[^/]*$|/torch/_C\b[^/]*$"), "torch bindings"),
    (re.compile(r"/lib(torch|c10|caffe2)[^/]*$"), "torch"),
    (re.compile(r"/lib-dynload/"), "interpreter"),
)
_NAMES = (  # the first that matches decides; "" is what a user wants to see
    (r"pyharness::(breakpoints?|engine)::|pyharness_python_line$", DEBUGGER),
    (r"at::native::|at::meta::", ""),
    (r"torch::autograd::Engine::execute$", ""),
    (r"torch::autograd::(?!Function::).*(?<!Engine)::(apply|backward|forward)$", ""),
    (
        r"torch::autograd::VariableType::|torch::(ADInplaceOrView|TraceType|jit)::|at::(_ops|redispatch|functorch)::",
        "torch dispatcher",
    ),
    (
        r"torch::autograd::(.*::)?\w*Engine\b|torch::autograd::(Node::operator|call_|validate_|CppNode|Autograd|Input)|torch::CppFunction",
        "autograd engine",
    ),
    (r"torch::autograd::(Function|node_|call)", "autograd engine"),
    (r"THP|torch::(autograd|python|utils|Python|handle_|dispatch_)", "torch bindings"),
    (r"c10::|torch::(detail|impl|Library|class_)", "torch dispatcher"),
    (r"(at|torch|caffe2)::", "torch"),
    (r"pybind11::|PyInit_", "pybind11"),
    (r"nanobind::", "nanobind"),
    (r"__rust|rust_(begin|panic|eh)", "the Rust library"),
    (r"(std|__gnu_cxx|__cxxabiv1)::|operator (new|delete)", "the C++ library"),
    (r"_?Py[A-Z_]|cfunction_|slot_tp_|method_vectorcall|object_(vacall|isinstance)|type_call", "interpreter"),
    (r"_start$|__libc_start|start_thread$|__?clone3?$|(__GI_)?raise$|__restore_rt$|_dl_", "libc"),
)
_SOURCES = (  # a closure's name is without its namespace, and with -g1 those of all that is inlined
    (re.compile(r"/pybind11/"), "pybind11"),
    (re.compile(r"/nanobind/"), "nanobind"),
    (re.compile(r"/torch/include/torch/csrc/autograd/"), "autograd engine"),
    (re.compile(r"/torch/include/(c10|ATen/core/(boxing|dispatch|op_registration))/"), "torch dispatcher"),
    (re.compile(r"/torch/include/"), "torch"),
    (re.compile(r"/c\+\+/(v1|\d+)/"), "the C++ library"),
    (re.compile(r"/Eigen/(src|CXX11)/"), "Eigen"),
    (re.compile(r"/include/boost/"), "Boost"),
    (re.compile(r"/include/opencv\d?/"), "OpenCV"),
    (re.compile(r"/include/(xtensor|xtl)/"), "xtensor"),
)
_RUST = re.compile(r"^/rust(c|/deps)/|/rustlib/src/")
_CRATE = re.compile(r"/(?:\.?cargo/registry|registry/src/[^/]+|git/checkouts)/(?:.*/)?([a-z][\w-]*?)-[0-9a-f.]+/")
"""A crate that cargo has fetched: its folder has its name and version."""
_STEM = re.compile(r"[^.-]*")
_BY_NAME = [(re.compile(pattern), family) for pattern, family in _NAMES]

_DEBUGGERS = r"/(debugpy|pydevd[^/]*|_pydevd_[^/]*)/|/pyharness/(debuggee|native|pytest_plugin)/"
_OURS = re.compile(rf"{_DEBUGGERS}|/pyharness/(fx|host|model|protocol)/")
_CALLED_BY_ALL = re.compile(rf"{STANDARD_LIBRARY.pattern}|^<|/pyharness/debuggee/watched/")
"""Files of the standard library, what has none, and what stands around functions of the program's."""
_PYTHON = (
    (re.compile(_DEBUGGERS), re.compile(""), DEBUGGER),
    (re.compile(r"^<frozen (importlib|zipimport)|/importlib/"), re.compile(""), "import"),
    (re.compile(r"^<frozen runpy>|/runpy\.py$"), re.compile(""), "runpy"),
    (re.compile(r"-packages/(_?pytest|pluggy|xdist|execnet)/"), re.compile(""), "pytest"),
    (re.compile(r"-packages/cffi/"), re.compile(""), "cffi"),
    (re.compile(r"-packages/triton/"), re.compile(""), "triton"),
    (re.compile(r"/threading\.py$"), re.compile(r"(^|\.)_"), "threading"),
    (re.compile(r"/multiprocessing/(spawn|forkserver|popen_\w+)\.py$"), re.compile(""), "multiprocessing"),
    (re.compile(r"/multiprocessing/(process|context)\.py$"), re.compile(r"(^|\.)_"), "multiprocessing"),
    (
        re.compile(r"-packages/torch/_(dynamo|functorch|inductor)/|/pyharness/fx/backend/"),
        re.compile(""),
        "torch.compile",
    ),
    (
        re.compile(r"-packages/(torch|functorch)/"),
        re.compile(r"(^|\.)(_\w*|wrapper|wrapped|call_wrapped|decorate_\w+)$"),
        "torch",
    ),
)


@lru_cache(maxsize=4096)
def native_family(function: str, library: str | None, file: str | None) -> str:
    """Whose machinery a native frame is, e.g. ``torch dispatcher``; empty for code that a user wants to see."""
    if whole := glue_family(function, file) or _searched(_WHOLE, library):
        return whole
    foreign = library is not None and not is_user_binary(library)
    if not foreign and is_user_source(file):
        return ""
    if rust := _family_of_rust(file or ""):
        return rust
    name = qualified_name(function)
    for pattern, family in _BY_NAME:
        if pattern.match(name):
            return family
    stem = _STEM.match(library.rsplit("/", 1)[-1])[0] if foreign and library else ""  # type: ignore[index]  # matches all
    return _searched(_SOURCES, file) or _searched(_LIBRARIES, library) or stem


def _family_of_rust(file: str) -> str:
    """The crate that a source of Rust belongs to, where it is none of the user's."""
    if _RUST.search(file):
        return "the Rust library"
    crate = _CRATE.search(file)
    return "" if crate is None else "PyO3" if crate[1].startswith("pyo3") else crate[1]


def _searched(families: tuple[tuple[re.Pattern[str], str], ...], path: str | None) -> str:
    """The family of the first pattern that a path has in it."""
    return next((family for pattern, family in families if path and pattern.search(path)), "")


@lru_cache(maxsize=4096)
def python_family(function: str, file: str | None) -> str:
    """Whose machinery a Python frame is; empty for code that a user wants to see."""
    if is_written_by_swig(file or ""):
        return "SWIG"
    for path, name, family in _PYTHON:
        if path.search(file or "") and name.search(function):
            return family
    return ""


def calls_for_debugger(files: Iterable[str | None]) -> bool:
    """Whether Python frames, innermost first, run code of the debugger's, or of the standard library called by it."""
    first = next((file for file in files if file and not _CALLED_BY_ALL.search(file)), "")
    return bool(_OURS.search(first))


def qualified_name(function: str) -> str:
    """The name in a demangled C++ function, without return type, template arguments and parameters."""
    function = function.replace("(anonymous namespace)", "anonymous").replace("decltype(auto) ", "")
    text, depth, start = "", 0, 0
    function = _WITHIN_RUST.sub(r"\1", function)
    for index, char in enumerate(function):
        if depth == 0 and (operator := _OPERATOR.match(function, index)):
            return text[start:] + operator.group()
        if char == "(" and depth == 0:
            break
        if char in "<([{":
            depth += 1
        elif char in ">)]}":
            depth = max(0, depth - 1)
        elif depth == 0:
            text += char
            start = len(text) if char == " " else start
    return text[start:].lstrip("*&")


_WITHIN_RUST = re.compile(r"\{((?:closure|impl)[\w#]*)\}")
"""A part of a name that Rust has numbered: ``rusty::apply::{closure#1}``."""
_OPERATOR = re.compile(r'\boperator( *(\(\)|<=>|<<=?|>>=?|->\*?|<=?|>=?|\[\]|"" *\w+)| +[A-Za-z_:][^()]*)')
"""With what is a part of its name: brackets, or the type that it converts to."""
