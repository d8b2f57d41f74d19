"""The most memory that a call has at a time, over what the process had before."""

from __future__ import annotations

import ctypes
import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_STATUS = Path("/proc/self/status")


def peak_bytes(call: Callable[[], object]) -> float:
    """By the kernel's high-water mark of resident memory, which is set back before; freed memory is given back.

    The call is made once before, so that what it loads (code that is not shared yet) does not count.
    """
    call()
    ctypes.CDLL(None).malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    before = _kibibytes("VmRSS")
    call()
    return 1024.0 * (_kibibytes("VmHWM") - before)


def _kibibytes(name: str) -> int:
    match = re.search(rf"^{name}:\s+(\d+) kB", _STATUS.read_text(encoding="ascii"), re.MULTILINE)
    assert match, f"the kernel does not tell {name}"
    return int(match[1])
