"""For whom a thread of native code works: for the thread on whose stack lies what it works with.

Whoever hands out work and waits for its end (``#pragma omp parallel``, ``at::parallel_for``, a ``std::thread`` with a
lambda ``[&]``) hands out addresses of its own variables. Optimized code may keep none of them; then what OpenMP runs in
parallel is known by its function, of which the compiler has made one for the others. So is a backward by the engine's.
"""

from __future__ import annotations

import struct
from bisect import bisect_right
from itertools import pairwise
from typing import TYPE_CHECKING

from pyharness.model.frozen import changed
from pyharness.model.plumbing import native_family, qualified_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from pyharness.model.frames import Frame
    from pyharness.model.threads import ThreadStack
    from pyharness.reading.process.memory_map import Region

MOST_BYTES = 1 << 18
"""How much of a thread's stack is looked through, from the outermost on."""
RED_ZONE = 128
"""Bytes below the stack pointer that a function which calls no other may use."""
_WORD = 8
_ENGINE_RUNS, _ENGINE_WAITS = "torch::autograd::Engine::thread_main", "torch::autograd::Engine::execute"


def stack_within(regions: Iterable[Region], pointer: int) -> range:
    """The part of a thread's stack that is in use, from its stack pointer to the end of what is mapped there."""
    return next((range(pointer, each.end) for each in regions if each.start <= pointer < each.end), range(0))


def works_for(stack: bytes, stacks: Mapping[int, range]) -> dict[int, int]:
    """The threads to whose ``stacks`` a thread's own leads, by LWP, each with the outermost address that does."""
    used = sorted((part.start, part.stop, lwp) for lwp, part in stacks.items() if part)
    starts = [start for start, _, _ in used]
    found: dict[int, int] = {}
    for word in reversed(struct.unpack(f"={len(stack) // _WORD}Q", stack[len(stack) % _WORD :])):
        index = bisect_right(starts, word) - 1  # a process may have hundreds of threads
        if index >= 0 and word < used[index][1]:
            found.setdefault(used[index][2], word)
    return found


def with_owners(
    threads: Iterable[ThreadStack], leads_to: Callable[[ThreadStack], Iterable[int]]
) -> Iterator[ThreadStack]:
    """The threads of a process that stands, each with the one for which it works; ``leads_to`` as `works_for` finds."""
    known = list(threads)
    called = {one.lwp: one.frames for one in known if any(frame.language == "python" for frame in one.frames)}
    for one in known:
        works = one.lwp not in called and (bool(one.signal) or has_work(one.frames))
        yield changed(one, works_for=_owner(one, leads_to, called)) if works else one


def has_work(frames: Sequence[Frame]) -> bool:
    """Whether a thread runs something; one of a pool that waits for work has on its stack what it did last."""
    return any(not frame.plumbing and (frame.file or index) for index, frame in enumerate(frames))


def _owner(
    one: ThreadStack, leads_to: Callable[[ThreadStack], Iterable[int]], called: Mapping[int, Sequence[Frame]]
) -> int:
    waits_at = waiting(one.frames)
    waiters = (lwp for lwp in sorted(called, reverse=True) if waits_at and waits_at(called[lwp]))
    return next((lwp for lwp in (*leads_to(one), *waiters) if lwp in called), 0)


def waiting(frames: Sequence[Frame]) -> Callable[[Sequence[Frame]], int] | None:
    """How to know who waits for what a thread runs: the level at which the stack of another one does, 0 for none.

    ``None`` where functions do not tell. Of several that do wait, the one that began last has handed it out.
    """
    inside = next((index for index, frame in enumerate(frames) if _is_openmp(frame)), 0)
    if inside:
        function = qualified_name(frames[inside - 1].function)
        return lambda others: _level_of_region(others, function)
    if any(qualified_name(frame.function) == _ENGINE_RUNS for frame in frames):
        return _level_of_backward
    return None


def _level_of_region(frames: Sequence[Frame], function: str) -> int:
    """Where a thread waits in ``function`` for the end of its parallel region."""
    for level, (inner, frame) in enumerate(pairwise(frames), 1):
        if _is_openmp(inner) and not _is_openmp(frame) and qualified_name(frame.function) == function:
            return level
    return 0


def _level_of_backward(frames: Sequence[Frame]) -> int:
    """Where a thread waits for threads of autograd's, as of each GPU; one may run nodes itself, too."""
    for level, frame in enumerate(frames):
        name = qualified_name(frame.function)
        if name == _ENGINE_RUNS:
            return 0
        if name.startswith(_ENGINE_WAITS):
            return level
    return 0


def _is_openmp(frame: Frame) -> bool:
    return frame.language == "native" and native_family(frame.function, frame.library, frame.file) == "OpenMP"
