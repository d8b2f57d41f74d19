"""The versions that pyharness is tested with; tests hold them against pyproject.toml and noxfile.py."""

from __future__ import annotations

import re
from dataclasses import dataclass

Version = tuple[int, ...]


@dataclass(frozen=True)
class Range:
    """From the oldest that works to the newest that was tried; both count."""

    oldest: Version
    newest: Version

    def __str__(self) -> str:
        first, last = ".".join(map(str, self.oldest)), ".".join(map(str, self.newest))
        return first if first == last else f"{first} to {last}"

    def too_old(self, version: Version) -> bool:
        """Whether it is known not to work."""
        return version[: len(self.oldest)] < self.oldest

    def untried(self, version: Version) -> bool:
        """Whether it is newer than what was tried."""
        return version[: len(self.newest)] > self.newest


GDB = Range((13,), (18,))
PYTHON = Range((3, 10), (3, 14))
TORCH = Range((2, 13), (2, 15))
DEBUGPY = Range((1, 8, 20), (1, 8))


def parsed(text: str) -> Version:
    """The numbers that a version begins with: ``2.13.0+cpu`` is (2, 13, 0); empty where there are none."""
    found = re.match(r"\d+(?:\.\d+)*", text)
    return tuple(int(part) for part in found[0].split(".")) if found else ()
