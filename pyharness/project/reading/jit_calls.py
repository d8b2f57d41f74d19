"""Calls of ``torch.utils.cpp_extension.load`` and ``load_inline`` in a project's Python files."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pyharness.project.reading.python_reading import UNKNOWN, PythonFile, argument
from pyharness.project.reading.sources import files, is_test, text_of

if TYPE_CHECKING:
    from collections.abc import Iterator

_MODULE = "torch.utils.cpp_extension"
_FUNCTIONS = ("load", "load_inline")


@dataclass(frozen=True)
class JitCall:
    """One of them."""

    file: str
    line: int
    function: str
    name: str
    """The name of the extension; with ``*`` where it is computed."""
    sources: tuple[str, ...]
    """Files, relative to the project, as far as they were found."""
    inline: str
    """The C++ of ``load_inline``."""
    functions: tuple[str, ...]
    """The functions that ``load_inline`` binds."""
    variable: str
    """What the module of the file keeps the extension as; empty inside of a function."""
    maker: str
    """A function of the module that takes nothing and returns it; empty where there is none."""
    own_folder: bool
    """Whether it names a ``build_directory``, which then a debug build shares with every other."""

    @property
    def folder(self) -> str:
        """The one that its packages lie in, relative to the project."""
        first = Path(self.file).parts[0]
        return first if first in {"src", "python"} else ""

    @property
    def module(self) -> str:
        """The Python module that calls it."""
        parts = Path(self.file).with_suffix("").parts[bool(self.folder) :]
        return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)

    @property
    def importable(self) -> bool:
        """Whether an ``import`` statement can name that module."""
        return all(part.isidentifier() for part in self.module.split("."))


def calls(root: Path) -> Iterator[JitCall]:
    """All of them, those outside of tests first."""
    paths = sorted(files(root, (".py",)), key=lambda path: is_test(path, root))
    for path in paths:
        text = text_of(path)
        if "cpp_extension" in text and path.name != "setup.py":
            yield from _of_file(root, path, text)


def _of_file(root: Path, path: Path, text: str) -> Iterator[JitCall]:
    try:
        file = PythonFile(text)
    except ValueError:
        return
    imported = file.imports_from(_MODULE)
    variables, makers = dict(_variables(file.tree)), dict(_makers(file.tree))
    for call in file.calls(*(name for name in _FUNCTIONS if name in imported or _MODULE in imported)):
        if not isinstance(call.func, ast.Name | ast.Attribute) or not _is_of_torch(call, imported):
            continue
        function = "load_inline" if argument(call, "cpp_sources", 99) is not None or _says(call, "inline") else "load"
        named = file.texts(argument(call, "sources", 1)) if function == "load" else []
        yield JitCall(
            file=path.relative_to(root).as_posix(),
            line=call.lineno,
            function=function,
            name=file.text(argument(call, "name", 0)),
            sources=tuple(found for one in named for found in _found(root, path, one)),
            inline="\n".join(file.texts(argument(call, "cpp_sources", 1))) if function == "load_inline" else "",
            functions=tuple(file.texts(argument(call, "functions", 3))),
            variable=variables.get((call.lineno, call.col_offset), ""),
            maker=makers.get((call.lineno, call.col_offset), ""),
            own_folder=argument(call, "build_directory", 7) is not None,
        )


def _is_of_torch(call: ast.Call, imported: set[str]) -> bool:
    """Not ``json.load`` or ``torch.load``: a bare name that was imported, or ``cpp_extension.load``."""
    if isinstance(call.func, ast.Name):
        return bool(imported & set(_FUNCTIONS))
    return ast.unparse(call.func).rpartition(".")[0].endswith("cpp_extension")


def _says(call: ast.Call, word: str) -> bool:
    return word in ast.unparse(call.func)


def _variables(tree: ast.Module) -> Iterator[tuple[tuple[int, int], str]]:
    """Where a call stands whose value the module keeps, and as what; under ``if`` and ``try`` too."""
    waiting: list[ast.stmt] = list(tree.body)
    while waiting:
        node = waiting.pop(0)
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and isinstance(node.targets[0], ast.Name):
            yield (node.value.lineno, node.value.col_offset), node.targets[0].id
        elif isinstance(node, ast.If | ast.Try | ast.With):
            inside = (node.body, getattr(node, "orelse", []), *(one.body for one in getattr(node, "handlers", [])))
            waiting += [statement for part in inside for statement in part]


def _makers(tree: ast.Module) -> Iterator[tuple[tuple[int, int], str]]:
    """Where a call stands that a function returns, by itself or by a name, and that function."""
    for function in tree.body:
        if not isinstance(function, ast.FunctionDef) or len(function.args.args) > len(function.args.defaults):
            continue
        inside = list(ast.walk(function))
        returned = [node.value for node in inside if isinstance(node, ast.Return)]
        names = {node.id for node in returned if isinstance(node, ast.Name)}
        for node in inside:
            by_name = (
                isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id in names
            )
            call = node.value if isinstance(node, ast.Assign) and by_name else node
            if isinstance(call, ast.Call) and (by_name or call in returned):
                yield (call.lineno, call.col_offset), function.name


def _found(root: Path, path: Path, named: str) -> Iterator[str]:
    """The file that a source means: relative to the folder of its Python file, or to the project."""
    pattern = named.replace(UNKNOWN, "").strip("/")
    for folder in (path.parent, root):
        if pattern and (folder / pattern).is_file() and (folder / pattern).resolve().is_relative_to(root):
            yield (folder / pattern).resolve().relative_to(root).as_posix()
            return
