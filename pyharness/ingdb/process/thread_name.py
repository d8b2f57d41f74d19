"""The name of a thread, whatever bytes it is made of."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import gdb


def name_of(thread: gdb.InferiorThread) -> str:
    """Its name, empty for none; the kernel cuts a name in the middle of a sign, which gdb does not read then."""
    with suppress(UnicodeDecodeError):
        return thread.name or ""
    process, lwp, _ = thread.ptid
    with suppress(OSError):
        return Path(f"/proc/{process}/task/{lwp}/comm").read_bytes().decode(errors="backslashreplace").rstrip("\n")
    return ""
