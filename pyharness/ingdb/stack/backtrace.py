"""The merged stack of a stopped thread, in gdb: native frames by gdb's unwinding, Python frames from memory."""

from __future__ import annotations

import signal
from contextlib import contextmanager
from typing import TYPE_CHECKING

import gdb

from pyharness.ingdb.autograd import running as autograd_node
from pyharness.ingdb.functions import native_names, trap_line
from pyharness.ingdb.functions.known_functions import innermost
from pyharness.ingdb.printers.bindings import describes_objects
from pyharness.ingdb.process import libraries
from pyharness.ingdb.process.inferior_memory import read
from pyharness.ingdb.process.signal_info import signal_info
from pyharness.ingdb.process.thread_name import name_of
from pyharness.ingdb.stack import unwritten
from pyharness.ingdb.stack.locals import Variables
from pyharness.ingdb.stack.shared_work import owners
from pyharness.ingdb.stack.tail import StackTails
from pyharness.model.errors import HarnessError
from pyharness.model.frozen import changed
from pyharness.model.threads import ThreadStack
from pyharness.protocol.mi import MAX_FRAMES
from pyharness.reading.autograd.current import frame_runs_node
from pyharness.reading.process.mapped_files import without_lines
from pyharness.reading.process.memory import Memory, UnreadableError
from pyharness.reading.python.kernel_thread import KernelThread
from pyharness.reading.python.layout import UnknownPythonError
from pyharness.reading.python.runtime import find_python
from pyharness.reading.python.thread_names import name_of as pythons_name_of
from pyharness.reading.python.threads import Python
from pyharness.reading.stack.merge import NativeFrame, in_order, merge, not_read
from pyharness.reading.stack.shared_work import with_owners

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from pyharness.model.frames import AutogradNode, Frame
    from pyharness.reading.process.mapped_files import Library
    from pyharness.reading.python.frames import Loop, PythonFrame
    from pyharness.reading.python.layout import Layout
    from pyharness.reading.python.threads import PythonThread

_MAX_NATIVE = 1000
"""What of a frame gdb reads it works out from the innermost on: more are slow, and are a recursion that runs away."""

_WITH_ADDRESS = {signal.SIGSEGV, signal.SIGBUS, signal.SIGILL, signal.SIGFPE}
_FATAL = {signal.SIGABRT, signal.SIGQUIT, signal.SIGSYS}

_found: dict[tuple[int, int], tuple[Layout, int]] = {}
"""Layout and `_PyRuntime` of the interpreter, by inferior and pid: neither changes while the program lives."""


def merged_stack(thread: gdb.InferiorThread | None = None, limit: int = MAX_FRAMES) -> list[Frame]:
    """The stack of a stopped thread (the selected one by default), innermost first, at most ``limit`` frames."""
    return list(thread_stack(thread, limit).frames[:limit])


def all_threads(limit: int = MAX_FRAMES, *, variables: bool = False, only: int | None = None) -> list[ThreadStack]:
    """Every thread (or the ``only`` one, by its LWP), the main one first."""
    python, note = _python()
    threads = sorted(gdb.selected_inferior().threads(), key=_age)
    wanted = [thread for thread in threads if only in {None, thread.ptid[1]}]
    lost = libraries.lost()
    with _same_selection():
        return [_stack(thread, python, note, limit, variables=variables, lost=lost) for thread in wanted]


def owned(stacks: Iterable[ThreadStack]) -> list[ThreadStack]:
    """All threads of a process that stands, each with the one for which it works."""
    threads = {thread.ptid[1]: thread for thread in gdb.selected_inferior().threads()}
    with _same_selection():
        return list(with_owners(stacks, lambda one: [owner.thread for owner in owners(threads[one.lwp])]))


def _age(thread: gdb.InferiorThread) -> tuple[bool, int, int]:
    """The main thread first, then as they began: gdb 18 numbers those of a process that it attaches to as it likes.

    The first of a core file is the one that died.
    """
    lwp = thread.ptid[1]
    return thread.num != 1, lwp, thread.num


def thread_stack(
    thread: gdb.InferiorThread | None = None, limit: int = MAX_FRAMES, *, variables: bool = False
) -> ThreadStack:
    """One thread (the selected one by default) with what is to say about it."""
    thread = thread or gdb.selected_thread()
    if thread is None:
        raise HarnessError("No program is being debugged.", "Attach to one with ph-attach, or open a core file.")
    with _same_selection():
        return _stack(thread, *_python(), limit, variables=variables)


def left_out(frames: Sequence[Frame], limit: int) -> str:
    """What to say of a stack of which not all frames are shown; empty where all are."""
    if len(frames) >= limit:
        return f"The stack has more frames: those behind the innermost {limit} are not shown."
    if sum(frame.language == "native" for frame in frames) >= _MAX_NATIVE:
        return f"The stack has more native frames: those behind the innermost {_MAX_NATIVE} are not shown."
    return ""


def frames_in_order(
    thread: gdb.InferiorThread, limit: int = MAX_FRAMES, *, handles: bool = True
) -> tuple[list[NativeFrame | PythonFrame], Python | None]:
    """What `merged_stack` shows, as the debugger reads it: for those who look into a frame.

    Without ``handles`` a native frame may have none: ``handle_of`` finds it.
    """
    python, _note = _python()
    with _same_selection():
        thread.switch()
        native = list(_native_frames(min(limit, _MAX_NATIVE))) if handles else _unwound(thread, min(limit, _MAX_NATIVE))
        loops = loops_of(thread)
    return in_order(native, loops)[:limit], python


def loops_of(thread: gdb.InferiorThread) -> list[Loop]:
    """The runs of the interpreter's loop on the selected thread, innermost first."""
    return [loop for one in _python_threads(_python()[0], thread) for loop in one.loops]


def level_with(thread: gdb.InferiorThread, address: int) -> int:
    """The level of the frame of a thread's merged stack that has an address of that; 0 where none has."""
    frames, _ = frames_in_order(thread, handles=False)
    ends = (each.cfa if isinstance(each, NativeFrame) else None for each in frames)
    return next((level for level, end in enumerate(ends) if end and address < end), 0)


def current_python() -> Python | None:
    """The interpreter of the selected inferior as it is now, ``None`` where there is none to read."""
    return _python()[0]


@describes_objects
def _object_described(address: int) -> str:
    python = current_python()
    return python.values.describe(address) if python else hex(address)


def handle_of(frame: NativeFrame) -> gdb.Frame:
    """gdb's own frame for one of the selected thread's."""
    found: gdb.Frame | None = frame.handle or gdb.newest_frame()
    while found is not None and frame.handle is None:
        if (found.pc(), stack_pointer(found), native_names.name_of(found)[0]) == (frame.pc, frame.sp, frame.function):
            return found
        found = found.older()
    if found is None:
        raise HarnessError(f"The frame of {frame.function} is gone.", "Ask for the stack again.")
    return found


@contextmanager
def _same_selection() -> Iterator[None]:
    """Afterwards the thread and the frame are selected that were so before."""
    thread = gdb.selected_thread()
    try:
        frame = gdb.selected_frame() if thread else None
    except gdb.error:  # it runs
        frame = None
    try:
        yield
    finally:
        if thread and thread.is_valid():
            thread.switch()
        if frame and frame.is_valid():
            frame.select()


def _stack(
    thread: gdb.InferiorThread,
    python: Python | None,
    note: str,
    limit: int,
    *,
    variables: bool,
    lost: Mapping[str, str] | None = None,
) -> ThreadStack:
    if thread.is_running():
        return ThreadStack(thread.ptid[1], name_of(thread), (), note="it runs")
    thread.switch()
    native = list(_native_frames(min(limit, _MAX_NATIVE))) if variables else _unwound(thread, min(limit, _MAX_NATIVE))
    known = _python_threads(python, thread)
    pythons_name = pythons_name_of(python, known) if python else ""
    loops = [loop for one in known for loop in one.loops]
    describe = Variables(python).of if variables else None
    frames = tuple(_op_named(merge(native, loops, _node_of, describe)))
    if python:
        unwritten.learn(frames, python)
    return ThreadStack(
        thread.ptid[1],
        pythons_name or name_of(thread),
        frames,
        holds_gil=any(one.holds_gil for one in known),
        signal=_fatal_signal(),
        note=note or libraries.kept_out() or _without_lines(native, lost or {}) or not_read(native, _MAX_NATIVE),
    )


def _without_lines(native: Sequence[NativeFrame], lost: Mapping[str, str]) -> str:
    """What to say of a stack with frames of ``lost`` libraries."""
    found = {libraries.path_at(frame.pc) for frame in native} if lost else set()
    return " ".join(without_lines(path, became) for path, became in lost.items() if path in found)


def _op_named(frames: Iterable[Frame]) -> Iterator[Frame]:
    """The frames; the first one is the op, where a native breakpoint stopped before or after it."""
    for index, frame in enumerate(frames):
        stop = trap_line.current_native() if index == 0 and frame.function == trap_line.FUNCTION else None
        yield changed(frame, function=stop.name, library=None, plumbing=False) if stop else frame


def gil_holders() -> set[int]:
    """Kernel ids of the threads that hold a GIL now; empty where that cannot be read."""
    python, _ = _python()
    try:
        return python.gil_holders() if python else set()
    except UnreadableError:
        return set()


def in_subinterpreter(thread: gdb.InferiorThread) -> bool:
    """Whether a thread that stands runs Python of another interpreter than the main one."""
    python, _ = _python()
    if python is None or not python.has_subinterpreters():
        return False
    return any(one.interpreter and one.loops for one in _python_threads(python, thread))


def _fatal_signal() -> str:
    """The signal that ends the program here, as ``SIGSEGV at address 0x0``; empty for a stop of another kind."""
    try:
        info = signal_info()
        number = int(info["si_signo"])
        if number in _WITH_ADDRESS and int(info["si_code"]) > 0:  # not sent by a program
            address = int(info["_sifields"]["_sigfault"]["si_addr"]) & (1 << 64) - 1
            return f"{signal.Signals(number).name} at address {address:#x}"
        return signal.Signals(number).name if number in _WITH_ADDRESS | _FATAL else ""
    except (gdb.error, ValueError):
        return ""


def _python() -> tuple[Python | None, str]:
    """The interpreter of the selected inferior as it is now, or why there is none to read."""
    inferior = gdb.selected_inferior()
    key = inferior.num, inferior.pid
    memory = Memory(read)
    if key in _found and (python := Python(memory, *_found[key])).looks_right():
        return python, ""
    try:
        python_or_none = find_python(memory, _candidates())
    except UnknownPythonError as error:
        return None, f"{error.message} {error.remedy}".rstrip()
    if python_or_none is None:
        return None, "no Python in this process: native frames only"
    _found[key] = python_or_none.layout, python_or_none.runtime
    return python_or_none, ""


def _candidates() -> Iterator[Library]:
    """The files that most likely hold the interpreter, then all: opening hundreds of them takes a while."""
    for part in ("libpython", "python"):
        likely = libraries.find_library(part)
        if likely:
            yield likely
    yield from libraries.libraries()


def _python_threads(python: Python | None, thread: gdb.InferiorThread) -> list[PythonThread]:
    """What each interpreter knows of a stopped thread, the one that runs innermost first; read once a stop."""
    if python is None:
        return []
    key = gdb.selected_inferior().num, *thread.ptid
    if key not in _known_threads:
        _known_threads[key] = _read_threads(python, thread)
    return _known_threads[key]


def forget_threads(_event: object = None) -> None:
    """Read anew what threads do: gdb tells of no stop that a breakpoint's ``stop`` takes back."""
    _known_threads.clear()
    _unwound_frames.clear()


def _forget_frames(_event: object) -> None:
    """Unwind anew: somebody has written to memory, or to a register."""
    _unwound_frames.clear()


_READS = 3
"""How often the list of Python's threads is read for one that is not in it."""
_known_threads: dict[tuple[int, ...], list[PythonThread]] = {}
"""By inferior and thread; one that stands runs no Python until gdb lets it go on or calls a function on it."""
_unwound_frames: dict[tuple[int, ...], tuple[tuple[int, int | None], list[NativeFrame]]] = {}
"""By thread and limit, with where the thread stood: an editor asks for the stack, and then for its innermost frame."""
for _written in ("memory_changed", "register_changed"):
    getattr(gdb.events, _written).connect(_forget_frames)
for _changes in ("stop", "inferior_call", "exited", "new_objfile"):  # not `cont`: gdb tells each instruction of a step
    if hasattr(gdb.events, _changes):
        getattr(gdb.events, _changes).connect(forget_threads)


def _read_threads(python: Python, thread: gdb.InferiorThread) -> list[PythonThread]:
    frame = gdb.newest_frame()
    try:
        pthread = int(frame.read_register("fs_base"))
    except (gdb.error, ValueError):
        pthread = 0
    known = KernelThread(thread.ptid[1], pthread, stack_pointer(frame) or 0)
    for _ in range(_READS if gdb.parameter("non-stop") else 1):
        # Others run, and come and go from the list: it is read at once, of memory as it is now.
        now = Python(Memory(read), python.layout, python.runtime)
        if found := known.among(now.threads(known.may_be)):
            return found
    return []


def _native_frames(limit: int) -> Iterator[NativeFrame]:
    """The selected thread's frames as gdb unwinds them; ends where gdb cannot go on."""
    frame: gdb.Frame | None
    frame, file, line = innermost()
    pointer, exact = stack_pointer(frame), True
    for level in range(limit):
        if frame is None or (frame.pc() == 0 and not exact):  # the oldest frame's caller
            return
        exact = frame.type() == gdb.SIGTRAMP_FRAME  # a call of a null pointer may have been interrupted
        try:
            older = frame.older()
        except gdb.error:
            older = None
        above = stack_pointer(older)
        described = _described(frame, pointer or 0, above if above and pointer and above >= pointer else None)
        yield described if level else changed(described, file=file, line=line)
        frame, pointer = older, above


def _unwound(thread: gdb.InferiorThread, limit: int) -> list[NativeFrame]:
    """The selected thread's native frames, read once a stop; those that are as at the last one have no handle."""
    newest = gdb.newest_frame()
    key, place = (*thread.ptid, limit), (newest.pc(), stack_pointer(newest))
    known = _unwound_frames.get(key)
    if known is None or known[0] != place or not _are_valid(known[1]):
        known = _unwound_frames[key] = place, _tails.complete(key, _native_frames(limit))
    return known[1]


def _are_valid(frames: Iterable[NativeFrame]) -> bool:
    return all(frame.handle is None or frame.handle.is_valid() for frame in frames)


def _node_of(frame: NativeFrame) -> AutogradNode | None:
    """The autograd node that a frame of the selected thread runs."""
    return autograd_node.node_of(frame.handle, frame.function) if frame.handle else None


def _kept_registers(frame: NativeFrame) -> tuple[int, ...] | None:
    """What a caller finds in the registers that its callees restore; ``None`` where one is lost."""
    try:
        return tuple(int(frame.handle.read_register(name)) for name in _KEPT)
    except (gdb.error, ValueError):
        return None


_KEPT = ("rbx", "rbp", "r12", "r13", "r14", "r15")
_tails = StackTails(_kept_registers, read, frame_runs_node)


def stack_pointer(frame: gdb.Frame | None) -> int | None:
    """Where the part of the stack of a frame begins; ``None`` where gdb lost it, and without a frame."""
    try:
        return int(frame.read_register("rsp")) & (1 << 64) - 1 if frame else None
    except (gdb.error, ValueError):
        return None


def _described(frame: gdb.Frame, pointer: int, above: int | None) -> NativeFrame:
    function, library = native_names.name_of(frame)
    place = frame.find_sal()
    file = place.symtab.fullname() if place.symtab else None
    return NativeFrame(frame.pc(), pointer, above, function, file, place.line or None, library, frame)
