"""What a source of Python imports, as far as its text says: without running it, and without compiling it."""

from __future__ import annotations

import re
import sys

from pyharness.host.regular_file import read_regular

_IMPORT = re.compile(rb"^[ \t]*(?:from[ \t]+([.\w]+)[ \t]+import\b|import[ \t]+([^#\n;]+))", re.MULTILINE)
_FIRST = re.compile(rb"\s*([.\w]*)")


def imports_others(file: str) -> bool:
    """Whether a script imports more than Python's own modules; so may one that cannot be read."""
    try:
        source = read_regular(file)
    except (OSError, ValueError):
        return True
    named = (name for found in _IMPORT.finditer(source) for name in (found[1] or found[2]).split(b","))
    return any(_top(name) not in sys.stdlib_module_names for name in named)


def _top(name: bytes) -> str:
    """``os`` of `` os.path as path``."""
    found = _FIRST.match(name)
    return found[1].partition(b".")[0].decode(errors="replace") if found else ""
