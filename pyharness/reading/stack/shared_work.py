"""For whom a thread of native code works: for the thread on whose stack lies what it works with.

Whoever hands out work and waits for its end (``#pragma omp parallel``, ``at::parallel_for``, a ``std::thread`` with a
lambda ``[&]``) hands out addresses of its own variables. Optimized code may keep none of them; then what OpenMP runs in
parallel is known by its function, of which the compiler has made one for the others.
"""

from __future__ import annotations

import struct
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


def stack_within(regions: Iterable[Region], pointer: int) -> range:
    """The part of a thread's stack that is in use, from its stack pointer to the end of what is mapped there."""
    return next((range(pointer, each.end) for each in regions if each.start <= pointer < each.end), range(0))


def works_for(stack: bytes, stacks: Mapping[int, range]) -> dict[int, int]:
    """The threads to whose ``stacks`` a thread's own leads, by LWP, each with the outermost address that does."""
    words = struct.unpack(f"={len(stack) // _WORD}Q", stack[len(stack) % _WORD :])
    found: dict[int, int] = {}
    for word in reversed(words):
        for lwp, used in stacks.items():
            if word in used:
                found.setdefault(lwp, word)
    return found


def with_owners(
    threads: Iterable[ThreadStack], leads_to: Callable[[ThreadStack], Iterable[int]]
) -> Iterator[ThreadStack]:
    """The threads of a process that stands, each with the one for which it works; ``leads_to`` as `works_for` finds.

    Python has called nothing of such a thread, and it has work: a pool's that waits for some has on its stack what it
    did last.
    """
    known = list(threads)
    called = {one.lwp: one.frames for one in known if any(frame.language == "python" for frame in one.frames)}
    for one in known:
        works = bool(one.signal) or any(not frame.plumbing for frame in one.frames[1:])
        yield changed(one, works_for=_owner(one, leads_to, called)) if works and one.lwp not in called else one


def _owner(
    one: ThreadStack, leads_to: Callable[[ThreadStack], Iterable[int]], called: Mapping[int, Sequence[Frame]]
) -> int:
    function = parallel_function(one.frames)
    waiting = (lwp for lwp, frames in called.items() if function and caller_of_region(frames, function))
    return next((lwp for lwp in (*leads_to(one), *waiting) if lwp in called), 0)


def parallel_function(frames: Sequence[Frame]) -> str:
    """The function whose part of a parallel region a thread of OpenMP's runs; empty for one that runs none."""
    inside = next((index for index, frame in enumerate(frames) if _is_openmp(frame)), 0)
    return qualified_name(frames[inside - 1].function) if inside else ""


def caller_of_region(frames: Sequence[Frame], function: str) -> int:
    """The level at which a thread waits in ``function`` for the end of its parallel region; 0 where it does not."""
    pairs = enumerate(pairwise(frames), 1)
    return next(
        (
            level
            for level, (inner, frame) in pairs
            if _is_openmp(inner) and not _is_openmp(frame) and qualified_name(frame.function) == function
        ),
        0,
    )


def _is_openmp(frame: Frame) -> bool:
    return frame.language == "native" and native_family(frame.function, frame.library, frame.file) == "OpenMP"
