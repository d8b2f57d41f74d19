"""How locks and threads are shown: who holds them, by its number and name."""

from __future__ import annotations

import contextlib

import gdb

from pyharness.ingdb.printers.registry import shows, text_of

_MUTEX = r"std::(?:recursive_|timed_|recursive_timed_)?mutex"
_SHARED = r"std::shared_(?:timed_)?mutex"
_SCOPED = r"std::(?:lock_guard|scoped_lock)<[^,]*>"
_FREE = "free"


@shows(_MUTEX)
def _mutex(value: gdb.Value) -> str:
    state = value["_M_mutex"]["__data"]
    owner, count = int(state["__owner"]), int(state["__count"])
    if not int(state["__lock"]):
        return _FREE
    times = f", {count} times" if count > 1 else ""
    return f"held by {_thread_called(owner)}{times}" if owner else "held"


@shows(_SHARED)
def _shared_mutex(value: gdb.Value) -> str:
    state = value["_M_impl"]["_M_rwlock"]["__data"]
    writer, readers = int(state["__cur_writer"]), int(state["__readers"]) >> 3  # nptl: three bits are flags
    if writer:
        return f"held by {_thread_called(writer)}"
    return f"held by {readers} reader{'s' * (readers != 1)}" if readers else _FREE


@shows(_SCOPED)
def _scoped(value: gdb.Value) -> str:
    return f"its mutex is {text_of(value['_M_device'])}"


@shows(r"std::(?:unique|shared)_lock<.*>")
def _unique_lock(value: gdb.Value) -> str:
    owns = value["_M_owns"] if _has(value, "_M_owns") else value["_M_owns_"]
    device = value["_M_device"] if _has(value, "_M_device") else value["_M_pm"]
    if not int(device):
        return "no mutex"
    return f"{'holds' if owns else 'does not hold'} its mutex, which is {text_of(device.dereference())}"


@shows(r"std::j?thread")
def _thread(value: gdb.Value) -> str:
    inner = value["_M_thread"] if _has(value, "_M_thread") else value
    return _thread_id(inner["_M_id"])


@shows(r"std::thread::id")
def _thread_id(value: gdb.Value) -> str:
    handle = int(value["_M_thread"])
    if not handle:
        return "no thread"
    with contextlib.suppress(gdb.error):
        for thread in gdb.selected_inferior().threads():
            if int.from_bytes(thread.handle(), "little") == handle:
                return _thread_called(thread.ptid[1])
    return f"a thread at {handle:#x}, which has ended or is not known"


def _thread_called(lwp: int) -> str:
    """``thread 3 (LWP 1234, "worker")``."""
    for thread in gdb.selected_inferior().threads():
        if thread.ptid[1] == lwp:
            name = f', "{thread.name}"' if thread.name else ""
            return f"thread {thread.num} (LWP {lwp}{name})"
    return f"LWP {lwp}, which has ended"


def _has(value: gdb.Value, member: str) -> bool:
    return any(field.name == member for field in value.type.strip_typedefs().fields())
