"""Keeps the GIL of a thread over a call that does not come back: it may have given the GIL away, to take it later."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import gdb

from pyharness.ingdb import console
from pyharness.ingdb.calls import call_gate, guarded_call
from pyharness.ingdb.process import libraries
from pyharness.ingdb.stack import backtrace

if TYPE_CHECKING:
    from collections.abc import Iterator

_MINE, _TAKE = "PyGILState_GetThisThreadState", "PyEval_RestoreThread"
_LARGEST = 64 << 20
"""The size of a file that may be an interpreter: libtorch is larger."""


@contextmanager
def kept() -> Iterator[None]:
    """What fails within leaves the selected thread with the GIL, where it had it."""
    thread = gdb.selected_thread()
    had = thread is not None and thread.ptid[1] in backtrace.gil_holders()
    try:
        yield
    except (gdb.error, gdb.GdbError):
        if had and thread is not None and _has_lost_it(thread):
            _take()
        raise


def _has_lost_it(thread: gdb.InferiorThread) -> bool:
    """Whether a thread that stands has no GIL any more, and can have it: no other one that stands holds it."""
    if not thread.is_valid() or thread.is_running() or guarded_call.is_given_up():
        return False
    return thread.ptid[1] not in backtrace.gil_holders() and not call_gate.stopped_gil_holder(thread)


def _take() -> None:
    for library in libraries.libraries():
        if "python" in library.path or len(library.elf.data) <= _LARGEST:
            mine, take = (library.elf.symbol(name) for name in (_MINE, _TAKE))
            if mine is not None and take is not None:
                state = f"((void *(*)(void)) {mine + library.bias:#x})()"
                with guarded_call.expression():
                    console.c_value(f"((void (*)(void *)) {take + library.bias:#x})({state})")
                return
