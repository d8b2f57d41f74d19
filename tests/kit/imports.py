"""Who imports whom: every import of the package's modules and when it is done, and every include of the C++ sources."""

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from kit.paths import ROOT

PACKAGE = ROOT / "pyharness"
_INCLUDE = re.compile(r"^\s*#\s*include\s+[<\"]((?:csrc|pyharness)/[^>\"]+)[>\"]", re.MULTILINE)


@dataclass(frozen=True)
class Import:
    """One name that a module imports."""

    name: str
    """Dotted; a module of ours where it is one, else as written."""
    when: str
    """``start`` (as the module is imported), ``later`` (inside of a function), ``types`` (for type checkers only)."""


@cache
def modules() -> dict[str, Path]:
    """Dotted name → file, of every module of the package."""
    named = ((path.relative_to(ROOT).with_suffix("").parts, path) for path in sorted(PACKAGE.rglob("*.py")))
    return {".".join(parts).removesuffix(".__init__"): path for parts, path in named}


@cache
def tree(path: Path) -> ast.Module:
    """The parsed source of a file."""
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


@cache
def imports() -> dict[str, frozenset[Import]]:
    """Module → what it imports."""
    return {name: frozenset(_imports(tree(path), "start")) for name, path in modules().items()}


def edges(*when: str) -> dict[str, set[str]]:
    """Module → the modules of ours that it imports at these times."""
    ours = {name: {_module(each.name) for each in found if each.when in when} for name, found in imports().items()}
    return {name: {other for other in others if other and other != name} for name, others in ours.items()}


def outside(module: str, *when: str) -> set[str]:
    """The packages of others that a module imports at these times."""
    tops = {each.name.partition(".")[0] for each in imports()[module] if each.when in when}
    return tops - {PACKAGE.name}


def room(module: str) -> str:
    """The folder or file of the package that a module lies in; ``__init__`` for the package itself."""
    return [*module.split("."), "__init__"][1]


def packages_of(module: str) -> set[str]:
    """The packages around a module, which are imported before it."""
    parts = module.split(".")
    return {".".join(parts[:end]) for end in range(1, len(parts))}


def reached(start: Iterable[str], graph: Mapping[str, Iterable[str]]) -> dict[str, str]:
    """What can be reached from ``start`` → by what path, in words."""
    paths = {name: name for name in start}
    ahead = list(paths)
    while ahead:
        here = ahead.pop()
        for name in graph.get(here, ()):
            if name not in paths:
                paths[name] = f"{paths[here]} → {name}"
                ahead.append(name)
    return paths


def circles(graph: Mapping[str, Iterable[str]]) -> set[frozenset[str]]:
    """The largest sets of more than one node in which each reaches each."""
    onward = {name: set(reached([name], graph)) for name in graph}
    together = {frozenset(other for other in ahead if name in onward.get(other, ())) for name, ahead in onward.items()}
    return {circle for circle in together if len(circle) > 1}


def sources() -> list[Path]:
    """Every C++ file of the extension."""
    return sorted(path for path in (ROOT / "csrc").rglob("*") if path.suffix in {".h", ".cpp"})


def includes() -> dict[str, set[str]]:
    """C++ file → our files that it includes, both as paths from the root (``csrc/...``)."""
    texts = ((path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")) for path in sources())
    return {name: {_header(header) for header in _INCLUDE.findall(text)} for name, text in texts}


def _header(name: str) -> str:
    """``pyharness/breakpoint.h`` is installed: it lies in the package."""
    return name if name.startswith("csrc/") else f"pyharness/include/{name}"


def _module(name: str) -> str:
    """The module of ours that a dotted name lies in; "" where it is not ours."""
    while name and name not in modules():
        name = name.rpartition(".")[0]
    return name


def _imports(node: ast.AST, when: str) -> Iterator[Import]:
    if isinstance(node, ast.Import):
        yield from (Import(alias.name, when) for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        assert node.level == 0, "imports are absolute"
        yield from (Import(f"{node.module}.{alias.name}", when) for alias in node.names)
    elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
        yield from _all(node.body, "types")
        yield from _all(node.orelse, when)
    else:
        inside = isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
        yield from _all(ast.iter_child_nodes(node), "later" if inside and when == "start" else when)


def _all(nodes: Iterable[ast.AST], when: str) -> Iterator[Import]:
    for node in nodes:
        yield from _imports(node, when)
