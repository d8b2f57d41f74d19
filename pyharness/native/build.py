"""Which build of the extension is loaded."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pyharness.native.load import load, without_example_ops


@dataclass(frozen=True)
class BuildInfo:
    """How ``pyharness._C`` was built."""

    build_type: str
    """``debug``, ``release`` or ``asan``: the CMake preset."""
    asserts: bool
    """Whether ``assert()`` is evaluated."""
    torch_debug_asserts: bool
    """Whether ``TORCH_INTERNAL_ASSERT_DEBUG_ONLY`` throws."""
    optimized: bool
    """Whether the compiler may hide variables."""
    openmp: bool
    """Whether ``at::parallel_for`` uses torch's threads."""
    compiler: str
    torch_version: str
    """The torch it was compiled against."""
    file: str
    """The module, links resolved."""

    def __str__(self) -> str:
        asserts = "on" if self.asserts and self.torch_debug_asserts else "off"
        return f"{self.build_type} build, asserts {asserts}, {self.compiler}, torch {self.torch_version}, {self.file}"


def build_info() -> BuildInfo:
    """How the loaded ``pyharness._C`` was built; imports torch; ``HarnessError`` where there is no usable build."""
    module = load()
    return BuildInfo(**module.build_info(), file=str(Path(str(module.__file__)).resolve()))


def described() -> str:
    """The loaded extension in a line: ``build_info()``, or, where there are no example ops, the torch it is for."""
    engine = load("_engine")
    if without_example_ops():
        return f"without example ops, torch {engine.torch_version}, {Path(str(engine.__file__)).resolve()}"
    return str(build_info())
