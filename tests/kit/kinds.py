"""Two functions in every kind of bindings: each kind is built once for each content, and kept."""

import subprocess
import sys
import sysconfig
from pathlib import Path

from kit import builds, needs
from kit.paths import BUILT, PROGRAMS

SOURCES = PROGRAMS / "kinds"
PROGRAM = SOURCES / "kinds_of_bindings.py"
_SUFFIX = str(sysconfig.get_config_var("EXT_SUFFIX"))
_FLAGS = ("-g", "-O0", "-fPIC", "-shared")


def source(kind: str) -> Path:
    """The file that a person wrote."""
    names = {
        "cython": "cython_kind.pyx",
        "nanobind": "nanobind_kind.cpp",
        "pyo3": "pyo3_kind.rs",
        "rust": "rust_kind.rs",
        "rust-v0": "rust_kind.rs",
    }
    return SOURCES / names.get(kind, "own.c")


def built(kind: str) -> Path:
    """The folder with the module, and with the library ``libown.so`` for those that open one."""
    key = builds._key(*(path.read_bytes() for path in sorted(SOURCES.iterdir()) if path.is_file()), sys.version)
    folder = BUILT / f"{kind}-{key}"
    return builds.once(folder / "built", lambda made: _build(kind, folder, made)).parent


def _build(kind: str, folder: Path, made: Path) -> None:
    _MAKERS[kind](folder)
    made.write_text("built\n")


def _run(folder: Path, *command: str | Path) -> None:
    done = subprocess.run(list(map(str, command)), cwd=folder, capture_output=True, text=True, check=False)
    assert not done.returncode, f"{command}\n{done.stdout}{done.stderr}"


def _include() -> str:
    return f"-I{sysconfig.get_paths()['include']}"


def _library(folder: Path) -> None:
    _run(folder, "cc", *_FLAGS, SOURCES / "own.c", "-o", "libown.so")


def _swig(folder: Path) -> None:
    _run(
        folder, Path(sys.executable).with_name("swig"), "-python", "-outdir", ".", "-o", "own_wrap.c", SOURCES / "own.i"
    )
    sources = ("own_wrap.c", SOURCES / "own.c")
    _run(folder, "cc", *_FLAGS, _include(), f"-I{SOURCES}", *sources, "-o", f"_swig_kind{_SUFFIX}")


def _cffi(folder: Path) -> None:
    for name in ("own.c", "own.h"):
        (folder / name).write_text((SOURCES / name).read_text())
    _run(folder, sys.executable, SOURCES / "cffi_kind.py")


def _cython(folder: Path) -> None:
    text = SOURCES / "cython_kind.pyx"
    _run(folder, sys.executable, "-m", "cython", "-3", "--line-directives", text, "-o", folder / "cython_kind.c")
    _run(folder, "cc", *_FLAGS, _include(), "cython_kind.c", "-o", f"cython_kind{_SUFFIX}")


def _nanobind(folder: Path) -> None:
    import nanobind

    package = Path(nanobind.__file__).parent
    includes = (_include(), f"-I{package / 'include'}", f"-I{package / 'ext/robin_map/include'}")
    sources = (SOURCES / "nanobind_kind.cpp", package / "src" / "nb_combined.cpp")
    words = ("-std=c++17", "-fvisibility=hidden", *_FLAGS, *includes, *sources)
    _run(folder, "c++", *words, "-o", f"nanobind_kind{_SUFFIX}")


def _rust(folder: Path, *words: str) -> None:
    words = ("--edition", "2021", "-g", "--crate-type", "cdylib", *words, str(SOURCES / "rust_kind.rs"))
    _run(folder, "rustc", *words, "-o", f"rust_kind{_SUFFIX}")


def _rust_v0(folder: Path) -> None:
    """With the symbols that rustc makes since 1.97."""
    _rust(folder, "-C", "symbol-mangling-version=v0")


_CARGO = """[package]
name = "pyo3_kind"
version = "0.1.0"
edition = "2021"

[lib]
crate-type = ["cdylib"]
path = "{source}"

[dependencies]
pyo3 = {{ version = "*", features = ["extension-module"] }}
"""
_REGISTRY = """[source.crates-io]
replace-with = "here"

[source.here]
directory = "{crates}"
"""


def _pyo3(folder: Path) -> None:
    (folder / ".cargo").mkdir(exist_ok=True)
    (folder / ".cargo" / "config.toml").write_text(_REGISTRY.format(crates=needs.CRATES))
    (folder / "Cargo.toml").write_text(_CARGO.format(source=source("pyo3")))
    _run(folder, "env", f"PYO3_PYTHON={sys.executable}", "cargo", "build", "--quiet", "--offline")
    (folder / "target" / "debug" / "libpyo3_kind.so").rename(folder / f"pyo3_kind{_SUFFIX}")


_MAKERS = {
    "cffi": _cffi,
    "cffi-abi": _library,
    "ctypes": _library,
    "cython": _cython,
    "nanobind": _nanobind,
    "pyo3": _pyo3,
    "rust": _rust,
    "rust-v0": _rust_v0,
    "swig": _swig,
}
