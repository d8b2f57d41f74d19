"""The tables of docs/sessions.md: the keys of a session file, between the comments that mark their places."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from markdown import cell, code, table

from pyharness.session import keys

if TYPE_CHECKING:
    from collections.abc import Iterator

_TABLES = {
    "program": keys.PROGRAM,
    "step": keys.STEP,
    "log": keys.LOG,
    "expect": (*keys.FRAME, *keys.EXPECT),
    "top": keys.TOP,
}
_PLACE = re.compile(
    r"(<!-- keys: (\w+), written by `python scripts/reference` -->\n).*?(<!-- end of keys -->)", re.DOTALL
)


def filled(page: str) -> str:
    """The page with its tables as the code has them; ``KeyError`` for a table that does not exist."""
    return _PLACE.sub(lambda match: match[1] + "\n".join(_table(match[2])) + "\n" + match[3], page)


def _table(name: str) -> Iterator[str]:
    yield ""
    yield from table(("key", "type", "is"), ((code(key.name), key.kind, cell(key.says)) for key in _TABLES[name]))
