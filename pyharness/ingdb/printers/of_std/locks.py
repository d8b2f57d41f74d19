"""How locks and threads are shown: who holds them, by its number and name."""

from __future__ import annotations

import contextlib

import gdb

from pyharness.ingdb.printers.registry import shows, text_of
from pyharness.ingdb.process.thread_name import name_of
from pyharness.ingdb.tensors.members import address_of, member

_MUTEX = r"std::(?:__1::)?(?:recursive_|timed_|recursive_timed_)?mutex"
_SHARED = r"std::shared_(?:timed_)?mutex"
_SCOPED = r"std::(?:__1::)?(?:lock_guard|scoped_lock)<[^,]*>"
_FREE = "free"


@shows(_MUTEX)
def _mutex(value: gdb.Value) -> str:
    state = _pthread_mutex(value)["__data"]
    owner, count = int(state["__owner"]), int(state["__count"])
    if not int(state["__lock"]):
        return _FREE
    times = f", {count} times" if count > 1 else ""
    return f"held by {_thread_called(owner)}{times}" if owner else "held"


def _pthread_mutex(value: gdb.Value) -> gdb.Value:
    if value.type.strip_typedefs().fields():
        return member(value, "_M_mutex", "__m_")
    whole = gdb.lookup_type("pthread_mutex_t").pointer()  # clang declares classes whose code is in a library
    return address_of(value).cast(whole).dereference()


@shows(_SHARED)
def _shared_mutex(value: gdb.Value) -> str:
    state = value["_M_impl"]["_M_rwlock"]["__data"]
    writer, readers = int(state["__cur_writer"]), int(state["__readers"]) >> 3  # nptl: three bits are flags
    if writer:
        return f"held by {_thread_called(writer)}"
    return f"held by {readers} reader{'s' * (readers != 1)}" if readers else _FREE


@shows(r"std::__1::shared_(?:timed_)?mutex")
def _gated_mutex(value: gdb.Value) -> str:
    """libc++'s own: the highest bit says that somebody writes, or waits to; the rest counts who reads."""
    state = int(member(value, "__base_", "__base")["__state_"])
    readers = state & ((1 << 31) - 1)
    if readers:
        return f"held by {readers} reader{'s' * (readers != 1)}"
    return "held" if state else _FREE


@shows(_SCOPED)
def _scoped(value: gdb.Value) -> str:
    return f"its mutex is {text_of(member(value, '_M_device', '__m_'))}"


@shows(r"std::(?:__1::)?(?:unique|shared)_lock<.*>")
def _unique_lock(value: gdb.Value) -> str:
    owns, device = member(value, "_M_owns", "_M_owns_", "__owns_"), member(value, "_M_device", "_M_pm", "__m_")
    if not int(device):
        return "no mutex"
    return f"{'holds' if owns else 'does not hold'} its mutex, which is {text_of(device.dereference())}"


@shows(r"std::jthread")
def _joining_thread(value: gdb.Value) -> str:
    return _thread(value["_M_thread"])


@shows(r"std::(?:__1::)?thread")
def _thread(value: gdb.Value) -> str:
    return _thread_id(member(value, "_M_id", "__t_"))


@shows(r"std::thread::id|std::__1::__thread_id")
def _thread_id(value: gdb.Value) -> str:
    is_class = value.type.strip_typedefs().code == gdb.TYPE_CODE_STRUCT
    handle = int(member(value, "_M_thread", "__id_") if is_class else value)
    if not handle:
        return "no thread"
    with contextlib.suppress(RuntimeError):  # there is no libthread_db for the program's C library
        for thread in gdb.selected_inferior().threads():
            if int.from_bytes(thread.handle(), "little") == handle:
                return _thread_called(thread.ptid[1])
    return f"a thread at {handle:#x}, which has ended or is not known"


def _thread_called(lwp: int) -> str:
    """``thread 3 (LWP 1234, "worker")``."""
    for thread in gdb.selected_inferior().threads():
        if thread.ptid[1] == lwp:
            called = name_of(thread)
            name = f', "{called}"' if called else ""
            return f"thread {thread.num} (LWP {lwp}{name})"
    return f"LWP {lwp}, which has ended"
