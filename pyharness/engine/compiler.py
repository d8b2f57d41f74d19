"""The C++ compiler of this machine, and the commands that make the engine; no CMake, no ninja."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from pyharness.engine import sources
from pyharness.model.errors import HarnessError
from pyharness.model.frozen import frozen

if TYPE_CHECKING:
    from pyharness.engine.facts import Facts

_NAMES = ("c++", "g++", "clang++")
_INSTALL = "Debian and Ubuntu: `apt-get install g++`; conda: `conda install gxx`; $CXX names one that lies elsewhere."
_WITHOUT = "Steps, stacks and places fx:, py: and native: need none."
_LIBRARIES = ("c10", "torch_cpu", "torch_python")
# As csrc/CMakeLists.txt has them. Never debug information: a library with source lines counts as the user's, and
# stepping would enter it.
_FLAGS = ("-std=c++20", "-O2", "-g0", "-fPIC", "-fvisibility=hidden", "-fno-omit-frame-pointer", "-DNDEBUG", "-w")


@frozen
class Compiler:
    """A compiler and what it compiles against."""

    words: tuple[str, ...]
    """The command, which $CXX may give arguments: ``ccache g++``."""
    facts: Facts
    has_openmp: bool
    """Large tensors are checked on torch's threads."""

    def headers(self, build: Path) -> list[str]:
        """The command that precompiles torch's headers."""
        header = build / Path(sources.HEADERS).name
        if not header.is_file():  # clang does not take what was compiled before that
            header.write_text(f"#include <{sources.HEADERS}>\n", encoding="utf-8")
        return [*self.words, *self._flags(), "-x", "c++-header", str(header), "-o", f"{header}.gch"]

    def object_of(self, folder: Path, build: Path) -> list[str]:
        """The command that compiles the files of one folder as one: what they all include costs more than they do."""
        unit = _object(folder, build).with_suffix(".cpp")
        named = (path.relative_to(sources.root()).as_posix() for path in sources.folders()[folder])
        unit.write_text("".join(f"#include <{name}>\n" for name in named), encoding="utf-8")
        header = build / Path(sources.HEADERS).name
        flags = [*self._flags(), "-include", str(header)]
        return [*self.words, *flags, "-c", str(unit), "-o", str(_object(folder, build))]

    def linked(self, build: Path, module: Path) -> list[str]:
        """The command that makes the module of all of them."""
        objects = [str(_object(folder, build)) for folder in sources.folders()]
        libraries = [f"-L{self.facts.torch}/lib", *(f"-l{name}" for name in _LIBRARIES)]
        openmp = ["-fopenmp"] * self.has_openmp
        return [*self.words, "-shared", *openmp, *objects, *libraries, "-o", str(module)]

    def _flags(self) -> list[str]:
        torch = f"{self.facts.torch}/include"
        folders = [torch, f"{torch}/torch/csrc/api/include", self.facts.include]
        defined = {
            "TORCH_EXTENSION_NAME": "_engine",
            "PYHARNESS_TORCH_VERSION": f'"{self.facts.version}"',
            "_GLIBCXX_USE_CXX11_ABI": str(self.facts.abi),
        }
        return [
            *_FLAGS,
            *(["-fopenmp"] * self.has_openmp),
            *(f"-D{name}={value}" for name, value in defined.items()),
            f"-I{sources.root()}",
            f"-I{sources.INSTALLED}",
            f"-ffile-prefix-map={sources.root()}/=",
            *(word for each in folders for word in ("-isystem", each)),
        ]


def _object(folder: Path, build: Path) -> Path:
    name = folder.relative_to(sources.root()).as_posix().replace("/", "-")
    return build / f"{name}.o"


def compiler(facts: Facts) -> Compiler:
    """The compiler to build with; ``HarnessError`` where it, torch's headers or Python's are not there."""
    words = tuple(shlex.split(os.environ.get("CXX", ""))) or _found()
    lacks = f"The engine for {facts.named} is not built, and cannot be"
    if not words or shutil.which(words[0]) is None:
        missing = f"{words[0]} ($CXX) is no program" if words else f"there is no C++ compiler ({', '.join(_NAMES)})"
        raise HarnessError(f"{lacks}: {missing}.", f"Install one. {_INSTALL} {_WITHOUT}")
    if not (Path(facts.include) / "Python.h").is_file():
        remedy = "Install the interpreter's headers (Debian and Ubuntu: `apt-get install python3-dev`)."
        raise HarnessError(f"{lacks}: there is no {facts.include}/Python.h.", f"{remedy} {_WITHOUT}")
    if not (Path(facts.torch) / "include" / "ATen" / "ATen.h").is_file():
        remedy = "Use a torch that has its headers, as those from PyPI and conda do."
        raise HarnessError(f"{lacks}: {facts.torch} has no headers.", f"{remedy} {_WITHOUT}")
    return Compiler(words, facts, _is_gcc(words))


def _found() -> tuple[str, ...]:
    return tuple(name for name in _NAMES if shutil.which(name))[:1]


def _is_gcc(words: tuple[str, ...]) -> bool:
    """Whether its OpenMP is the one that torch has loaded."""
    said = subprocess.run([*words, "--version"], capture_output=True, text=True, check=False, errors="replace")
    return "clang" not in said.stdout.lower()
