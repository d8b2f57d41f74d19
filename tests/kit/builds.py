"""Extensions, libraries and programs that tests need in C++: each is compiled once for each content, and kept."""

import fcntl
import hashlib
import importlib.util
import os
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Iterable
from pathlib import Path

from kit import needs
from kit.paths import BUILT, PROGRAMS, TESTS

CROSSING = TESTS / "debugger" / "extension.cpp"
"""The source of the module ``crossing``, in which most tests cross between the languages."""
OPTIMIZED = CROSSING.with_name("optimized.cpp")
_CROSSING_FLAGS = ("-std=c++17", "-g", "-fPIC", "-shared", "-pthread")
_UNITS = {"CALLS": "-g", "BINDINGS": "-g1"}
"""Units of ``CROSSING`` beside its first, with how much gdb may read of them."""
EIGEN_ARRAYS = PROGRAMS / "eigen_arrays.cpp"
_EIGEN = "cmeel-eigen==3.4.1"
_LIBRARY_FLAGS = ("-g", "-fPIC", "-shared")


def compiled(source: Path, suffix: str, *flags: str) -> Path:
    """What ``source`` compiles to with torch's headers; an executable where the flags do not say otherwise."""
    import torch

    python = sysconfig.get_config_var("py_version")
    key = _key(source.read_bytes(), torch.__version__, str(flags), str(python))
    command = ["-std=c++20", "-w", *_torch_includes(), str(source), *flags]
    return once(BUILT / f"{source.stem}-{key}{suffix}", lambda made: _compile(made, command))


def eigen() -> Path:
    """The folder with Eigen's headers, which a wheel has; pip fetches it without what that wheel wants beside it."""
    return once(BUILT / _EIGEN.replace("==", "-"), _fetch_eigen) / "cmeel.prefix" / "include" / "eigen3"


def eigen_arrays() -> Path:
    """A library whose function ``look`` has an array of Eigen of each kind."""
    return compiled(EIGEN_ARRAYS, ".so", "-O0", "-g", "-fPIC", "-shared", f"-I{eigen()}")


def _fetch_eigen(made: Path) -> None:
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(made), _EIGEN]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        needs.downloaded(done.stderr.strip() or f"pip: {done.returncode}")


def crossing(name: str = "crossing", source: Path = CROSSING, *flags: str) -> Path:
    """The folder with a built module that needs no torch; ``CROSSING`` says why it has units, others are one."""
    key = _key(source.read_bytes(), str(_CROSSING_FLAGS), str(_UNITS), *flags, sys.version)
    module = BUILT / f"{name}-{key}" / f"{name}{sysconfig.get_config_var('EXT_SUFFIX')}"
    includes = [f"-I{_pybind11()}", f"-I{sysconfig.get_paths()['include']}"]
    command = [*_CROSSING_FLAGS, "-O0", *flags, *includes, str(source)]

    def make(made: Path) -> None:
        units = []
        for unit, detail in _UNITS.items() if source == CROSSING else ():
            units.append(str(made.with_name(f"{unit}.o")))
            _compile(Path(units[-1]), [*command, f"-D{unit}", detail, "-c"])
        _compile(made, [*command, *units])

    return once(module, make).parent


def plain_extension(python: str) -> Path:
    """The folder with the module ``plain`` for an interpreter, which needs nothing but that."""
    return _module("plain", python, PROGRAMS / "plain_extension.c")


def unlocked_calls(python: str) -> Path:
    """The folder with the module ``unlocked`` for an interpreter."""
    return _module("unlocked", python, PROGRAMS / "unlocked_calls.c", "-pthread")


def own_interpreter() -> Path | None:
    """An interpreter of this Python's version whose file has debug information; ``None`` without a libpython."""
    version = sysconfig.get_config_var("VERSION")
    return _with_libpython(PROGRAMS / "own_interpreter.cpp", "interpreter", f"bin/python{version}")


def embedding() -> Path | None:
    """A program in C++ that runs Python; ``None`` without a libpython."""
    return _with_libpython(PROGRAMS / "embedding.cpp", "embedding", "embedding", f'-DHOME="{sys.base_prefix}"')


def _with_libpython(source: Path, name: str, program: str, *flags: str) -> Path | None:
    said = sysconfig.get_config_vars()
    places = (Path(said["LIBDIR"]), Path("/usr/lib", said.get("MULTIARCH") or ""))
    names = (said["INSTSONAME"], f"libpython{said['VERSION']}.so.1.0")
    found = (place / name for place in places for name in names if not name.endswith(".a"))
    library = next((each for each in found if each.exists()), None)
    if library is None:
        return None
    linked = [str(library), f"-Wl,-rpath,{library.parent}", "-pthread"]
    command = ["-g", f"-I{sysconfig.get_paths()['include']}", *flags, str(source), *linked]
    key = _key(source.read_bytes(), sys.version, str(library))
    return once(BUILT / f"{name}-{key}" / program, lambda made: _compile(made, command))


def tally(python: str, folder: str) -> Path:
    """The folder with the module ``tally`` for an interpreter, whose source is said to lie in ``folder``."""
    return _module("tally", python, PROGRAMS / "tally.c", f"-ffile-prefix-map={PROGRAMS}={folder}")


def _module(name: str, python: str, source: Path, *flags: str) -> Path:
    asked = "import sysconfig as s, sys; print(s.get_paths()['include'], s.get_config_var('EXT_SUFFIX'), sys.version)"
    include, suffix, version = subprocess.run(
        [python, "-c", asked], capture_output=True, text=True, check=True
    ).stdout.split(maxsplit=2)
    module = BUILT / f"{name}-{_key(source.read_bytes(), version, *flags)}" / f"{name}{suffix}"
    words = ["-x", "c", "-O0", *_LIBRARY_FLAGS, *flags, f"-I{include}", str(source)]
    return once(module, lambda made: _compile(made, words)).parent


def many_functions() -> Path:
    """The folder with the module of that name, which has more functions than are looked up before a step."""
    source = PROGRAMS / "many_functions.c"
    key = _key(source.read_bytes(), sys.version)
    module = BUILT / f"many_functions-{key}" / f"many_functions{sysconfig.get_config_var('EXT_SUFFIX')}"
    words = ["-x", "c", "-O0", *_LIBRARY_FLAGS, f"-I{sysconfig.get_paths()['include']}", str(source)]
    return once(module, lambda made: _compile(made, words)).parent


def op_kernel() -> Path:
    """An extension with the op ``walk::weighted``."""
    return _with_our_headers("op_kernel.cpp", "-O0", *_torch_includes(), *linked_with_torch("torch_cpu", "c10"))


def stable_abi() -> Path:
    """A library with the ops ``steady::doubled`` and ``steady::same``, over torch's stable ABI alone."""
    return compiled(
        PROGRAMS / "stable_abi.cpp",
        ".so",
        *("-O0", *_LIBRARY_FLAGS, "-DTORCH_TARGET_VERSION=0x020a000000000000"),
        *linked_with_torch("torch_cpu"),
    )


def survey() -> Path:
    """The Python module ``survey``, whose C++ autograd Function is behind an op and called without one."""
    libraries = linked_with_torch("torch_python", "torch", "torch_cpu", "c10")
    return _with_our_headers("survey.cpp", "-O0", *_torch_includes(), *libraries)


def site_kernel(*flags: str) -> Path:
    """A plain library with places in every kind of function."""
    return _with_our_headers("site_kernel.cpp", *flags)


def begins_inlined() -> Path:
    """The library of ``begins_inlined.c``, as Clang compiles it: from assembly, which needs no Clang."""
    text = (PROGRAMS / "begins_inlined.s").read_text().replace("/source", str(PROGRAMS))

    def make(made: Path) -> None:
        assembly = made.with_suffix(".s")
        assembly.write_text(text)
        _compile(made, ["-shared", str(assembly), "-lm"])

    return once(BUILT / f"begins_inlined-{_key(text)}.so", make)


def faults() -> Path:
    """A plain library whose functions crash and hang."""
    return library(PROGRAMS / "faults.cpp", "-O0")


def library(source: Path, *flags: str) -> Path:
    """A library of C functions, which needs nothing."""
    command = ["-std=c++17", "-pthread", *_LIBRARY_FLAGS, *flags, str(source)]
    name = f"{source.stem}-{_key(source.read_bytes(), str(flags))}.so"
    return once(BUILT / name, lambda made: _compile(made, command))


def of_units(source: Path, *units: tuple[str, ...]) -> Path:
    """A library of C functions of which ``source`` is each unit, compiled with those flags."""
    name = f"{source.stem}-{_key(source.read_bytes(), str(units))}.so"

    def make(made: Path) -> None:
        objects = [made.with_name(f"{made.stem}-{number}.o") for number in range(len(units))]
        for unit, flags in zip(objects, units, strict=True):
            _compile(unit, [*_LIBRARY_FLAGS, *flags, "-c", str(source)])
        _compile(made, ["-shared", *map(str, objects)])

    return once(BUILT / name, make)


# Nothing of torch is linked: what the headers would call is dropped with the functions that call it.
_HEADERS_ALONE = (
    *("-fno-access-control", "-O1", "-ffunction-sections", "-fdata-sections"),
    *("-Wl,--gc-sections", "-Wl,-z,now", "-Wl,--unresolved-symbols=ignore-all"),
)


def tensor_kernel() -> Path:
    """The library whose op waits with a variable of every type."""
    return compiled(
        PROGRAMS / "tensor_kernel.cpp",
        ".so",
        "-O0",
        *_LIBRARY_FLAGS,
        *linked_with_torch("torch_python", "torch_cpu", "c10"),
    )


def offsets_program() -> Path:
    """Prints what the installed torch's headers say of its layout; its debug information defines every class."""
    return compiled(TESTS / "ingdb" / "tensor_offsets.cpp", "", "-g", "-femit-class-debug-always", *_HEADERS_ALONE)


def recorder_offsets() -> Path:
    """Prints what the installed torch's headers say of its flight recorder."""
    return compiled(TESTS / "reading" / "recorder_offsets.cpp", "", *_HEADERS_ALONE)


def _with_our_headers(name: str, *flags: str) -> Path:
    """A library of tests/programs that includes ``pyharness/breakpoint.h``."""
    import torch

    from pyharness.native import include_dir

    source, header = PROGRAMS / name, Path(include_dir()) / "pyharness" / "breakpoint.h"
    key = _key(source.read_bytes(), header.read_bytes(), torch.__version__, str(flags))
    command = ["-std=c++20", "-w", *_LIBRARY_FLAGS, f"-I{include_dir()}", str(source), *flags]
    return once(BUILT / f"{source.stem}-{key}.so", lambda made: _compile(made, command))


def once(target: Path, make: Callable[[Path], None]) -> Path:
    """``target``, made if it is not there: of two test processes the second waits."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with target.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not target.exists():
            made = target.with_suffix(".part")
            make(made)
            made.replace(target)
    return target


def _compile(made: Path, words: Iterable[str]) -> None:
    command = [_compiler(), *words, "-o", str(made)]
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    assert not built.returncode, f"{' '.join(command)}\n{built.stderr}"


def _compiler() -> str:
    return os.environ.get("CXX", "c++")


def _key(*parts: str | bytes) -> str:
    data = b"\0".join(part.encode() if isinstance(part, str) else part for part in (_compiler(), *parts))
    return hashlib.sha256(data).hexdigest()[:16]


def _torch() -> Path:
    import torch

    return Path(torch.__file__).parent


def _torch_includes() -> list[str]:
    include = _torch() / "include"
    folders = (include, include / "torch/csrc/api/include", sysconfig.get_paths()["include"])
    # Headers that include all ops include those they use: a third less to compile.
    return ["-DAT_PER_OPERATOR_HEADERS", *(f"-I{each}" for each in folders)]


def linked_with_torch(*names: str) -> list[str]:
    """What links a program with libraries of torch's, and has it find them."""
    return [f"-L{_torch() / 'lib'}", f"-Wl,-rpath,{_torch() / 'lib'}", *(f"-l{name}" for name in names)]


def _pybind11() -> Path:
    """pybind11's own headers, else those that torch brings."""
    for package in ("pybind11", "torch"):
        spec = importlib.util.find_spec(package)
        if spec and spec.origin and (include := Path(spec.origin).parent / "include").is_dir():
            return include
    raise AssertionError("pybind11 has no headers here, and torch is not installed")
