"""The words that this process was started with."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def own_words() -> list[str]:
    """The interpreter, its options, the script and its arguments; Python keeps them since 3.10."""
    words: list[str] | None = getattr(sys, "orig_argv", None)
    if words is not None:
        return words
    try:
        return [os.fsdecode(word) for word in Path("/proc/self/cmdline").read_bytes().split(b"\0")[:-1]]
    except OSError:
        return []
