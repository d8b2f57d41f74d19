"""Has gdb show Rust's own types by the printers that come with its compiler, where this machine has them."""

from __future__ import annotations

import importlib
import os
import re
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import gdb

if TYPE_CHECKING:
    from collections.abc import Callable

_TYPE = re.compile(r"&(mut )?(str|\[)|(alloc|core|std)::\w+::")
"""Names of types that may be Rust's: of others its printers are not asked, nor loaded."""
_INSTALLED = ("lib/rustlib/etc", "share/rustlib/etc")
_MARK = "gdb_lookup.py"


class _Printers:
    """What gdb keeps in its list of printers; ``disable pretty-printer global rust`` turns it off."""

    name = "rust"
    enabled = True
    subprinters = None

    def __call__(self, value: gdb.Value) -> Any:
        if not _TYPE.match(value.type.name or ""):
            return None
        found = _printer()
        return found(value) if found else None


@cache
def _printer() -> Callable[[gdb.Value], Any] | None:
    for folder in _folders():
        sys.path.append(str(folder))
        try:
            return importlib.import_module("gdb_lookup").printer  # type: ignore[no-any-return]
        except (ImportError, AttributeError, SyntaxError):
            sys.path.remove(str(folder))
    return None


def _folders() -> list[Path]:
    """Where rustup, Debian and others install them: of several toolchains' the newest first."""
    rustup = Path(os.environ.get("RUSTUP_HOME") or os.path.expanduser("~/.rustup")) / "toolchains"  # noqa: PTH111
    found = {}
    for root in (*rustup.glob("*"), Path("/usr/local"), Path("/usr")):
        for place in _INSTALLED:
            with suppress(OSError):  # somebody else's, or none
                found[root / place] = (root / place / _MARK).stat().st_mtime
    return sorted(found, key=lambda folder: found[folder], reverse=True)


def register() -> None:
    """Have gdb ask Rust's printers for values of types that may be Rust's."""
    gdb.pretty_printers.append(_Printers())
