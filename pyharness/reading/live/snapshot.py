"""What is read of a process while it stands: registers, stacks, Python frames, autograd nodes. All else can wait.

Names, lines and the merge need files only, so the process runs on before they are looked up.
"""

from __future__ import annotations

import time
from bisect import bisect_right
from itertools import islice
from operator import attrgetter
from typing import TYPE_CHECKING

from pyharness.model.frozen import frozen
from pyharness.reading.autograd.current import RunningNode, running_node
from pyharness.reading.live.refusal import TracedError, check
from pyharness.reading.live.tracing import Registers, Tracer, named_as_reader
from pyharness.reading.python.thread_names import name_of
from pyharness.reading.stack.shared_work import MOST_BYTES, RED_ZONE, works_for
from pyharness.reading.stack.unwinding import NativeCall, unwind

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from pyharness.reading.live.process import LiveProcess
    from pyharness.reading.process.memory_map import Region
    from pyharness.reading.python.threads import PythonThread

_PATIENCE, _POLL = 10.0, 0.02
"""Seconds that another reading is waited for, and how often to look."""
_MAX_STACK = 8 << 20
_RSP = 7


@frozen
class StandingThread:
    """One thread as it stood; ``registers`` is ``None`` for one that could not be stopped."""

    lwp: int
    name: str
    registers: Registers | None = None
    fault: str = ""
    calls: tuple[NativeCall, ...] = ()
    node: RunningNode | None = None
    leads_to: tuple[int, ...] = ()
    """The threads to whose stacks this one's leads, the most likely one for which it works first."""


@frozen
class Snapshot:
    """A process as it stood."""

    threads: tuple[StandingThread, ...]
    known: tuple[int, ...]
    """The kernel's ids of all its threads."""
    python: tuple[PythonThread, ...]
    names: dict[int, str]
    """Addresses of Python's threads → the names that a person gave them."""
    note: str
    """Why there is no Python half; empty where there is one."""
    seconds: float
    """How long it stood."""


def take(process: LiveProcess, only: int | None, limit: int, meanwhile: Callable[[], None] = lambda: None) -> Snapshot:
    """Hold a process for as long as it takes to read what changes (of the thread ``only``, if one is named).

    ``meanwhile`` is called while it stands. ``RefusedError`` where it cannot be held. Another reading is waited for.
    """
    end = time.monotonic() + _PATIENCE
    with named_as_reader():
        while (found := _unless_read(process, only, limit, meanwhile, last=time.monotonic() > end)) is None:
            time.sleep(_POLL)
    return found


def _unless_read(
    process: LiveProcess, only: int | None, limit: int, meanwhile: Callable[[], None], *, last: bool
) -> Snapshot | None:
    """``None`` where another reading holds the process, which is none of the person's concern but at ``last``."""
    try:
        check(process.pid)
        return _held(process, only, limit, meanwhile)
    except TracedError as error:
        if last or not error.is_reading:
            raise
        return None
    except PermissionError:
        # Another reading came first, and has gone by now: who may not trace a process may not open its memory either.
        if last:
            raise
        return None


def _held(process: LiveProcess, only: int | None, limit: int, meanwhile: Callable[[], None]) -> Snapshot:
    process.prepare()
    tracer = Tracer(process.pid)
    with tracer:
        process.look()
        python, note = process.python()
        found = tuple(python.threads()) if python else ()
        names = {one.address: name for one in found if python and (name := name_of(python, [one]))}
        reading = _Threads(process, tracer, limit, {one.pthread for one in found if one.loops})
        known = tuple(sorted({*tracer.standing, *tracer.running}))
        taken = [reading.taken(lwp) for lwp in known if only in {None, lwp}]
        meanwhile()
    return Snapshot(tuple(one() for one in taken), known, found, names, note, tracer.seconds)


class _Threads:
    """Reads the threads of a process that stands."""

    def __init__(self, process: LiveProcess, tracer: Tracer, limit: int, called: Collection[int]) -> None:
        """``called``: the threads that run Python, by their ``pthread_self()``."""
        self._process, self._tracer, self._limit, self._called = process, tracer, limit, called
        self._regions = process.regions
        self._variable = process.node_variable()
        self._used: dict[int, range] = {}
        """The part in use of the stack of each thread that was taken."""

    def taken(self, lwp: int) -> Callable[[], StandingThread]:
        """One thread; what can wait until it runs on is done by the call that is returned."""
        name = self._process.thread_name(lwp)
        try:
            registers = self._tracer.registers(lwp) if lwp in self._tracer.standing else None
        except OSError:  # it was killed
            registers = None
        if registers is None:
            return lambda: StandingThread(lwp, name)
        fault, node = self._tracer.fault(lwp), self._node(registers)
        stack = self._stack(lwp, registers)
        if stack:
            self._used[lwp] = stack.addresses
        read = stack.read if stack else self._process.read
        calls = islice(unwind(registers.general, self._process.library_at, read, self._is_code), self._limit)
        known = None if stack else tuple(calls)

        def one() -> StandingThread:
            own = None if registers.fs_base in self._called else stack
            leads_to = self._leads_to(lwp, own, registers.fs_base) if own else ()
            return StandingThread(lwp, name, registers, fault, tuple(calls) if known is None else known, node, leads_to)

        return one

    def _leads_to(self, lwp: int, stack: StackBytes, end: int) -> tuple[int, ...]:
        """The threads to whose stacks one's own leads; ``end``: what the C library keeps of it lies there."""
        others = {each: used for each, used in self._used.items() if each != lwp}
        return tuple(works_for(stack.until(end), others))

    def _node(self, registers: Registers) -> RunningNode | None:
        layout = self._process.torch_layout
        if self._variable is None or layout is None:
            return None
        return running_node(self._process.memory, self._variable, registers.fs_base, layout)

    def _is_code(self, address: int) -> bool:
        region = self._region(address)
        return region is not None and region.is_code

    def _region(self, address: int) -> Region | None:
        index = bisect_right(self._regions, address, key=attrgetter("start")) - 1
        region = self._regions[index] if index >= 0 else None
        return region if region and address < region.end else None

    def _stack(self, lwp: int, registers: Registers) -> StackBytes | None:
        """A copy of its stack; ``None`` where it runs on another one for now, as a signal handler may."""
        start = registers.general[_RSP]
        region = self._region(start)
        if region is None:
            return None
        is_main = lwp == self._process.pid
        if region.name != "[stack]" if is_main else not start < registers.fs_base < region.end:
            return None  # a thread that is not the main one has its control block at the end of its stack
        start = max(region.start, start - RED_ZONE & -16)
        try:
            return StackBytes(start, self._process.read(start, min(region.end - start, _MAX_STACK)))
        except OSError:
            return None


class StackBytes:
    """A copy of a part of memory."""

    def __init__(self, start: int, data: bytes) -> None:
        self._start, self._data = start, data

    @property
    def addresses(self) -> range:
        """Where it lies."""
        return range(self._start, self._start + len(self._data))

    def until(self, end: int) -> bytes:
        """The outermost of it before ``end``; before its own end where that is elsewhere."""
        data = self._data[: end - self._start] if end in self.addresses else self._data
        return data[-MOST_BYTES:]

    def read(self, address: int, size: int) -> bytes:
        """Bytes of it; ``OSError`` for what lies elsewhere."""
        at = address - self._start
        if at < 0 or at + size > len(self._data):
            raise OSError(f"{address:#x} is not on the stack")
        return self._data[at : at + size]
