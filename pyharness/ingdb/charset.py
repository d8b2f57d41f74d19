"""The character set in which gdb prints text and reads that of programs."""

from __future__ import annotations

import gdb

from pyharness.ingdb import console


def register() -> None:
    """UTF-8 where the locale's has no "…" (``LC_ALL=C``), as Python does: with it gdb fails to print a long tensor."""
    try:
        "…".encode(gdb.host_charset())
    except (UnicodeEncodeError, LookupError):
        for name in ("host-charset", "target-charset"):
            if gdb.parameter(name) == "auto":
                console.run(f"set {name} UTF-8")
