"""Has a process of ours read this program before it dies of a crash: see csrc/guard/crash_watch.h. Needs no torch."""

from __future__ import annotations

import os
import select
from contextlib import suppress
from typing import TYPE_CHECKING

from pyharness.native.load import load

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


def watch_crashes(command: Sequence[str], environment: Mapping[str, str], *, reader: int = 0) -> None:
    """Start ``command``, an absolute path and arguments, at each crash; the program dies when it has ended.

    ``reader``: the process whose descendants may trace this one, where the kernel asks; 0 for the one that is started.
    ``OSError`` where the kernel refuses, ``HarnessError`` where the module is not built.
    """
    load("_guard").watch_crashes(_words(command), _variables(environment), reader)


def renew_crash_watch(*, alone: bool = False) -> None:
    """Be told of crashes first again, where others have taken the handlers; they are told afterwards.

    ``alone``: they have left the handlers, and are told nothing.
    """
    load("_guard").renew_crash_watch(alone)


def thread_watch() -> Callable[[], None]:
    """A function that looks at libraries loaded since: where a thread of theirs overflows its stack, that is told."""
    watch: Callable[[], None] = load("_guard").watch_thread_starts
    return watch


def wait_for_unseen(process: int, seconds: float | None = None) -> None:
    """Wait until a process of ``start_unseen`` has ended, or for so long; nobody but the system hears how."""
    with suppress(ProcessLookupError):
        descriptor = os.pidfd_open(process)
        try:
            poll = select.poll()
            poll.register(descriptor)
            poll.poll(None if seconds is None else seconds * 1000)
        finally:
            os.close(descriptor)


def start_unseen(command: Sequence[str], environment: Mapping[str, str]) -> int:
    """Start a command that is no child of this process; its process id."""
    return int(load("_guard").start_unseen(_words(command), _variables(environment)))


def _variables(environment: Mapping[str, str]) -> bytes:
    return _words([f"{name}={value}" for name, value in environment.items()] or ["="])


def _words(words: Sequence[str]) -> bytes:
    return b"".join(os.fsencode(word) + b"\0" for word in words)
