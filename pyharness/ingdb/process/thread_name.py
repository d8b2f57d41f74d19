"""The name of a thread, whatever bytes it is made of."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import gdb


def name_of(thread: gdb.InferiorThread) -> str:
    """The name of a thread, empty for none; gdb reads none that the kernel has cut in the middle of a sign."""
    with suppress(UnicodeDecodeError):
        return thread.name or ""
    process, lwp, _ = thread.ptid
    with suppress(OSError):
        return Path(f"/proc/{process}/task/{lwp}/comm").read_bytes().decode(errors="backslashreplace").rstrip("\n")
    return ""
