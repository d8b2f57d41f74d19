"""What setup.py says of its extensions: read, never run."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyharness.project.reading.python_reading import UNKNOWN, PythonFile, argument, name_of
from pyharness.project.reading.sources import text_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_TORCH = ("CppExtension", "CUDAExtension", "SyclExtension")
_RUNNERS = {"run", "check_call", "check_output", "call", "Popen", "spawn", "system"}
_CHOSEN_BY_US = re.compile(r"-DCMAKE_(BUILD_TYPE|INSTALL_PREFIX|(LIBRARY|RUNTIME|ARCHIVE)_OUTPUT_DIRECTORY.*)\b")
_PLAIN_OPTION = re.compile(r"-D\w+(:\w+)?=(\$python|[^\"`\\;$])*")
"""One that means the same between a shell's double quotes."""
_INTERPRETER = "$python"
"""In an option, where setup.py writes ``sys.executable``; the build script's variable."""


@dataclass(frozen=True)
class Setup:
    """A setup.py."""

    name: str
    modules: tuple[str, ...]
    torch_extensions: bool
    runs_cmake: bool
    own_build_folder: bool
    """Whether setup.py hands CMake the folder that ``--build-temp`` names, and not one of its own choosing."""
    options: tuple[str, ...]
    """``-D`` options for CMake that are given always, as words for a shell."""

    @property
    def builds_extensions(self) -> bool:
        """Whether ``setup.py build`` makes them, in folders that can be named."""
        return self.torch_extensions or (self.runs_cmake and self.own_build_folder)

    @property
    def why(self) -> str:
        """What of it says so."""
        shown = f" of {', '.join(self.modules)}" if self.modules else ""
        return f"setup.py has a CppExtension{shown}" if self.torch_extensions else "setup.py runs CMake"


def read(root: Path) -> Setup | None:
    """The folder's setup.py; ``None`` where there is none that can be read."""
    if not (root / "setup.py").is_file():
        return None
    try:
        file = PythonFile(text_of(root / "setup.py"))
    except ValueError:
        return None
    torch = list(file.calls(*_TORCH))
    plain = list(file.calls("Extension", "CMakeExtension")) if not torch else []
    setup = next(file.calls("setup"), None)
    name = file.text(argument(setup, "name", 0)) if setup else UNKNOWN
    return Setup(
        name="" if UNKNOWN in name else name,
        modules=tuple(dict.fromkeys(file.text(argument(call, "name", 0)) for call in [*torch, *plain])),
        torch_extensions=bool(torch),
        runs_cmake=_runs_cmake(file),
        own_build_folder=any(
            isinstance(node, ast.Attribute) and node.attr == "build_temp" for node in ast.walk(file.tree)
        ),
        options=tuple(_options(file)),
    )


def _runs_cmake(file: PythonFile) -> bool:
    """Whether it starts a program, and a list or a string says ``cmake``."""
    starts = any(isinstance(node, ast.Call) and name_of(node.func) in _RUNNERS for node in ast.walk(file.tree))
    words = (
        node.value for node in ast.walk(file.tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)
    )
    return starts and any(re.match(r"cmake( |$)", word) for word in words)


def _options(file: PythonFile) -> Iterator[str]:
    """The options in lists of options; what is appended under a condition, or cannot be known, is left out."""
    for node in ast.walk(file.tree):
        if not isinstance(node, ast.List):
            continue
        for part in node.elts:
            text = file.text(_with_interpreter(part)) if isinstance(part, ast.Constant | ast.JoinedStr) else UNKNOWN
            if _PLAIN_OPTION.fullmatch(text) and UNKNOWN not in text and not _CHOSEN_BY_US.match(text):
                yield text


class _Interpreter(ast.NodeTransformer):
    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        return ast.Constant(_INTERPRETER) if ast.unparse(node) == "sys.executable" else node


def _with_interpreter(node: ast.expr) -> ast.expr:
    changed: ast.expr = _Interpreter().visit(ast.parse(ast.unparse(node), mode="eval").body)
    return changed
