"""Commands of gdb's own, and what they print."""

from __future__ import annotations

import gdb

from pyharness.ingdb.stream_records import plain


def run(command: str) -> str:
    """What a command prints; ``gdb.error`` where it fails."""
    return plain(gdb.execute(command, to_string=True))
