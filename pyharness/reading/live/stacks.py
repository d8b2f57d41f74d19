"""The merged stacks of a running process, without a debugger: held for a moment, then named."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pyharness.host.surroundings import Surroundings
from pyharness.model.frozen import frozen
from pyharness.model.text.source_line import remember
from pyharness.model.threads import ThreadStack
from pyharness.reading.autograd.current import frame_runs_node
from pyharness.reading.live.process import LiveProcess
from pyharness.reading.live.refusal import RefusedError, explained
from pyharness.reading.live.snapshot import StandingThread, take
from pyharness.reading.process.mapped_files import lost_libraries, not_opened, without_lines
from pyharness.reading.python.kernel_thread import KernelThread
from pyharness.reading.python.source_texts import source_texts, unwritten
from pyharness.reading.stack.merge import NativeFrame, merge, not_read
from pyharness.reading.stack.naming import Naming
from pyharness.reading.stack.shared_work import with_owners

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pyharness.model.frames import AutogradNode, Frame
    from pyharness.reading.live.snapshot import Snapshot

MAX_FRAMES = 1000
_ELF64 = b"\x7fELF\x02\x01"
_UNINTERRUPTIBLE = "it could not be stopped: it is in an uninterruptible system call (state D)"


@frozen
class Stacks:
    """Every thread of a process, the main one first."""

    threads: tuple[ThreadStack, ...]
    known: tuple[int, ...]
    """The kernel's ids of all its threads."""
    held: float
    """Seconds for which the process stood."""


def is_readable(pid: int) -> bool:
    """Whether a process can be read without a debugger: not one of another architecture, and not this one."""
    if pid == os.getpid():
        return False
    try:
        with open(f"/proc/{pid}/exe", "rb") as stream:  # noqa: PTH123
            return stream.read(len(_ELF64)) == _ELF64
    except OSError:  # what keeps us from it is said when it is tried
        return True


def read_stacks(pid: int, *, only: int | None = None, limit: int = MAX_FRAMES) -> Stacks:
    """The merged stacks of a running process (or of its thread ``only``); ``RefusedError`` where it cannot be held."""
    with opened(pid) as process:
        return described(process, take(process, only, limit), limit)


@contextmanager
def opened(pid: int) -> Iterator[LiveProcess]:
    """A running process to read; ``RefusedError`` says why it cannot be read, also where that is found out later."""
    try:
        with LiveProcess(pid) as process:
            yield process
    except OSError as error:
        raise explained(pid, str(error)) or RefusedError(
            f"Process {pid} cannot be read: {error.strerror or error}.",
            "`pyharness doctor` says what keeps it from that.",
        ) from error


def described(process: LiveProcess, snapshot: Snapshot, limit: int = MAX_FRAMES) -> Stacks:
    """The stacks of a process as it stood, with names and lines."""
    threads = _threads(process, snapshot, limit)
    _learn_sources(process, [frame for one in threads for frame in one.frames])
    return Stacks(threads, snapshot.known, snapshot.seconds)


def _learn_sources(process: LiveProcess, frames: Sequence[Frame]) -> None:
    """Have the text of what is in no file; the process, which runs again, keeps that of all code it ran."""
    if not unwritten(frames) or not (missing := unwritten(frames, Surroundings(process.pid).root)):
        return
    process.look()
    python, _note = process.python()
    for file, text in source_texts(python, missing).items() if python else ():
        remember(file, text)


def _threads(process: LiveProcess, snapshot: Snapshot, limit: int) -> tuple[ThreadStack, ...]:
    shown = _Shown(process, snapshot)
    naming = Naming(process.program)
    threads = [shown.stack(thread, naming.frames(thread.calls)[:limit]) for thread in snapshot.threads]
    naming.keep()
    leads_to = {thread.lwp: thread.leads_to for thread in snapshot.threads}
    return tuple(with_owners(threads, lambda one: leads_to[one.lwp]))


class _Shown:
    """Makes of what was read what is shown."""

    def __init__(self, process: LiveProcess, snapshot: Snapshot) -> None:
        self._files, self._snapshot = process.files, snapshot
        self._lost = lost_libraries(self._files.images, self._files.became_of)

    def stack(self, thread: StandingThread, native: Sequence[NativeFrame]) -> ThreadStack:
        if thread.registers is None:
            return ThreadStack(thread.lwp, thread.name, (), note=_UNINTERRUPTIBLE)
        kernel = KernelThread(thread.lwp, thread.registers.fs_base, thread.registers.general[7])
        known, names = kernel.among(self._snapshot.python), self._snapshot.names
        loops = [loop for one in known for loop in one.loops]
        return ThreadStack(
            thread.lwp,
            next((names[one.address] for one in known if one.address in names), thread.name),
            tuple(merge(native, loops, _nodes(thread, native))),
            holds_gil=any(one.holds_gil for one in known),
            signal=thread.fault,
            note=self._snapshot.note
            or not_opened(self._files.kept_out)
            or self._without_lines(native)
            or not_read(native, MAX_FRAMES),
        )

    def _without_lines(self, native: Sequence[NativeFrame]) -> str:
        """What to say of a stack with frames of libraries that are not here, or not as they were."""
        found = {image.path for frame in native if (image := self._files.image_at(frame.pc))} if self._lost else set()
        return " ".join(without_lines(path, became) for path, became in self._lost.items() if path in found)


def _nodes(
    thread: StandingThread, native: Sequence[NativeFrame]
) -> Callable[[NativeFrame], AutogradNode | None] | None:
    """The node that the thread runs is its innermost frame's that can run one."""
    if thread.node is None:
        return None
    runs = next((frame for frame in native if frame_runs_node(frame.function)), None)
    node = thread.node.run_by(runs.function) if runs else None
    return lambda frame: node if frame is runs else None
