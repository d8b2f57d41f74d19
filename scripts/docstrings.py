"""Names docstrings whose first line has no subject of its own, such as "It is ready" or "Of each tensor".

Usage: python scripts/docstrings.py [PATH ...]. Without a path it reads the package, and what builds, measures and
documents it. An editor's hover and the reference show a docstring without the code around it: of modules, classes,
functions, and names with a text below them.
"""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

ROOT = Path(__file__).parents[1]
_WITHOUT_A_SUBJECT = re.compile(
    r"(It|Its|Itself|Of|As|Those|These|This|That|They|Their|Them|Such|Otherwise|Else|So|Then|And|Or|But"
    r"|The same|The others?(?= (?:one|did|is|are|has|have)\b))\b"
)
_READ = ("pyharness", "benchmarks", "cmake", "scripts", "setup.py", "noxfile.py")
_Documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def complaints(path: Path) -> Iterator[str]:
    """One line for each docstring of a file that cannot be read alone."""
    for text in docstrings(ast.parse(path.read_text(encoding="utf-8"))):
        first = str(text.value).strip().partition("\n")[0]
        if found := _WITHOUT_A_SUBJECT.match(first):
            shown = path.relative_to(ROOT) if path.is_relative_to(ROOT) else path
            yield f'{shown}:{text.lineno}: "{found[0]}" is not a subject that can be read alone: {first}'


def docstrings(tree: ast.Module) -> Iterator[ast.Constant]:
    """The docstrings of a module: its own, those of classes and functions, and texts below assignments."""
    for node in ast.walk(tree):
        if isinstance(node, _Documented):
            yield from _texts(node.body[:1])
            yield from _texts(
                after
                for before, after in zip(node.body, node.body[1:], strict=False)
                if isinstance(before, (ast.Assign, ast.AnnAssign))
            )


def _texts(statements: Iterable[ast.stmt]) -> Iterator[ast.Constant]:
    for statement in statements:
        value = statement.value if isinstance(statement, ast.Expr) else None
        if isinstance(value, ast.Constant) and isinstance(value.value, str):
            yield value


def main() -> int:
    """Check what was named; the exit status."""
    asked = [Path(name).resolve() for name in sys.argv[1:]] or [ROOT / name for name in _READ]
    files = [path for each in asked for path in (sorted(each.rglob("*.py")) if each.is_dir() else [each])]
    found = [line for path in files for line in complaints(path)]
    print("\n".join(found) or f"{len(files)} files: every docstring can be read alone")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
