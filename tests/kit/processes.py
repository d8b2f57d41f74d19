"""Processes that carry a mark in their environment, and the wait for the end of one that need not be a child."""

import contextlib
import os
import select
from collections.abc import Iterator
from pathlib import Path

from pyharness.host.loader import words_of


def carrying(mark: str) -> Iterator[tuple[int, str]]:
    """Processes but this one with ``mark`` (``NAME=value``) in their environment: pid and command line."""
    for entry in Path("/proc").glob("[0-9]*"):
        if int(entry.name) != os.getpid():
            with contextlib.suppress(OSError):
                if mark.encode() in (entry / "environ").read_bytes().split(b"\0"):
                    yield int(entry.name), " ".join(words_of(int(entry.name)))


def ends_within(pid: int, seconds: float) -> bool:
    """Whether a process ends in time; returns as soon as it does."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([descriptor], [], [], seconds)[0])
    finally:
        os.close(descriptor)
