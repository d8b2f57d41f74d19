"""On which line of a TOML file each value begins: the parser keeps no positions, but takes each statement alone."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

KeyPath = tuple[Any, ...]
_TOKEN = re.compile(
    r'"""(?:\\.|[^\\])*?"""(?!")|' + r"'''.*?'''(?!')|" + r'"(?:\\.|[^"\\\n])*"|' + r"'[^'\n]*'|#[^\n]*|[\[\]{}\n]",
    re.DOTALL,
)


def lines_of(text: str, parse: Callable[[str], dict[str, Any]]) -> dict[KeyPath, int]:
    """The 1-based line of the statement of each value of ``text``, which is TOML."""
    found: dict[KeyPath, int] = {}
    tables: Counter[KeyPath] = Counter()
    prefix: KeyPath = ()
    for line, statement in _statements(text):
        made = parse(statement)
        if statement.lstrip().startswith("["):
            prefix = _header(made, tables)
            inside = [prefix[:count] for count in range(1, len(prefix) + 1)]
        else:
            inside = [prefix + path for path in _paths(made)]
        for path in inside:
            found.setdefault(path, line)
    return found


def _statements(text: str) -> Iterator[tuple[int, str]]:
    """Each statement and its first line; comments and empty lines have none."""
    start, line, depth, first = 0, 1, 0, 1
    for token in _TOKEN.finditer(text + "\n"):
        word = token[0]
        if word in "[{":
            depth += 1
        elif word in "]}":
            depth -= 1
        elif word == "\n" and depth == 0:
            statement = text[start : token.start()]
            if statement.strip() and not statement.lstrip().startswith("#"):
                yield first, statement
            start, first = token.end(), line + 1
        line += word.count("\n")


def _header(made: dict[str, Any], tables: Counter[KeyPath]) -> KeyPath:
    """The path of the table that ``[a.b]`` or ``[[a.b]]`` begins, with the numbers of those in lists."""
    path: KeyPath = ()
    value: Any = made
    while value:
        (key, value) = next(iter(value.items()))
        path = (*path, key)
        if isinstance(value, list):
            tables[path] += 1
            value = value[0]
        if tables[path]:
            path = (*path, tables[path] - 1)
    return path


def _paths(made: dict[str, Any]) -> Iterator[KeyPath]:
    """The paths of all values in what a statement made, the outer ones first."""
    waiting: list[tuple[KeyPath, Any]] = [((), made)]
    while waiting:
        path, value = waiting.pop()
        if path:
            yield path
        items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        waiting += [((*path, key), each) for key, each in items]
