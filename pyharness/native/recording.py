"""``pyharness.record()``: what ops and autograd nodes ran, how long, who called them, and which op made which node."""

from __future__ import annotations

import mmap
import resource
import sys
import threading
import time
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from pyharness.model.errors import HarnessError
from pyharness.model.results.trace import MAX_CAPACITY
from pyharness.native.chains import ChainReader, engine
from pyharness.native.kernel_libraries import WORDS, KernelLibraries
from pyharness.native.raw_events import RawThread, chains_in
from pyharness.native.trace_builder import build

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from typing_extensions import Self

    from pyharness.fx.inductor.calls import KernelCalls
    from pyharness.model.kernel_files import Kernel, Wrapper
    from pyharness.model.results.trace import Call, Trace
    from pyharness.native.kernel_libraries import KernelLibrary
    from pyharness.native.trace_builder import Named

CAPACITY = 1 << 18
"""Events that each thread's buffer holds, unless asked otherwise: 16 MiB where all are used."""
_BYTES_OF_EVENT = 64 + 16 * 8
"""Room for the event, and for what is noted of its tensors (``csrc/engine/record/notes.h``)."""
_DYNAMO = "torch._dynamo"
"""What ``torch.compile`` imports: where it is there may be kernels."""
_MAP_NORESERVE = 0x4000
"""Takes memory where it is written only; Python before 3.13 has no name for it."""


class Recording:
    """Records from ``with`` to its end; then ``trace`` is what ran. Recordings may overlap, also in several threads."""

    def __init__(self, options: dict[str, Any], *, memory: bool) -> None:
        self._options = options
        self._memory = memory
        self._engine: Any = None
        self._number: int | None = None
        self._kernels: KernelCalls | None = None
        self._libraries: KernelLibraries | None = None
        self._threads: list[RawThread] | None = None
        self._calls: dict[int, tuple[Call, ...]] = {}
        self._names: list[Named] = []
        self._python_threads: dict[int, str] = {}
        self._children = 0.0
        self._begun = 0

    def __enter__(self) -> Self:
        """Begin."""
        if self._number is not None or self._threads is not None:
            raise HarnessError("This recording has begun already.", "Call pyharness.record() once for each.")
        self._engine = engine()
        _check_room(self._options["capacity"])
        self._children = -_time_of_children()
        self._begun = time.time_ns()
        self._number = self._engine.start_recording(**self._options)
        self._libraries = KernelLibraries(self._engine, self._lead)
        self._libraries.begin()
        if _DYNAMO in sys.modules:
            self.follow_kernels()
        return self

    def follow_kernels(self) -> None:
        """Record kernels of torch.compile's, too, which is done by itself where the program has imported that."""
        from pyharness.fx.inductor.calls import KernelCalls

        if self._number is not None and self._kernels is None:
            self._kernels = KernelCalls(self._called)
            self._kernels.begin()

    def _called(self, _wrapper: Wrapper, kernel: Kernel, function: Callable[..., Any]) -> Callable[..., Any]:
        return partial(self._engine.call_as_op, kernel.name, function)

    def _lead(self, library: KernelLibrary) -> Any:
        return self._engine.show_as_ops(library.path, WORDS)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """End, and keep what ran; also where the body raised."""
        if self._number is None:
            return
        number, self._number = self._number, None
        if self._kernels is not None:
            self._kernels.end()
        if self._libraries is not None:
            self._libraries.end()
        try:
            self._children += _time_of_children()
            self._threads = [RawThread.of(*each) for each in self._engine.stop_recording(number)]
            self._names = self._named()
            chains = {chain: self._engine.chain_links(chain) for chain in chains_in(self._threads) if chain}
            reader = ChainReader(chains.values())
            # Now: modules may be renamed later, and code that nobody else holds goes.
            self._calls = {chain: reader.calls(links) for chain, links in chains.items()}
            self._python_threads = {t.native_id: t.name for t in threading.enumerate() if t.native_id is not None}
        finally:
            self._engine.release_chains()

    def _named(self) -> list[Named]:
        """All names; the engine has a kernel's and the line that calls it in one."""
        names = self._engine.all_names()
        if self._libraries is None:
            return [(*each, None) for each in names]
        of = self._libraries
        return [(of.plain(name), overload, of.called(name)) for name, overload in names]

    @property
    def count(self) -> int:
        """Events so far, or in all."""
        if self._number is not None:
            return int(self._engine.count_events(self._number))
        return sum(thread.count + thread.lost for thread in self._threads or ())

    @cached_property
    def trace(self) -> Trace:
        """What was recorded; made when it is first asked for (about 5 µs an event)."""
        if self._threads is None:
            raise HarnessError("There is no trace before the recording has ended.", "Ask for it after the with block.")
        trace = build(
            self._threads,
            self._names,
            self._calls,
            memory=self._memory,
            names_of_threads=self._python_threads,
            program=sys.argv[0] if sys.argv else "",
            children=self._children,
        )
        return replace(trace, begun=self._begun)


def _check_room(capacity: int) -> None:
    """Each thread gets its buffer when it runs its first op: the program would fail in the midst of that."""
    try:
        mmap.mmap(-1, capacity * _BYTES_OF_EVENT, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _MAP_NORESERVE).close()
    except (OSError, OverflowError) as error:
        raise HarnessError(
            f"There is no address space for a buffer of {capacity} events.", "Choose a smaller capacity."
        ) from error


def _time_of_children() -> float:
    """Seconds of processor time of all child processes that this one has waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def record(
    *,
    forward: bool = True,
    backward: bool = True,
    shapes: bool = False,
    memory: bool = False,
    inner_ops: bool = False,
    capacity: int = CAPACITY,
) -> Recording:
    """Record forward ops and autograd nodes of all threads: ``with pyharness.record() as recording: ...``.

    ``shapes`` notes shape, dtype and device of tensors; ``memory`` also the bytes of storage that an op's outputs
    brought. ``inner_ops`` records the ops that backward nodes run, too (costs twice as much). Without ``forward``
    nothing is known of where nodes come from. A thread that runs more than ``capacity`` events loses its oldest;
    ``Trace.lost`` counts them. Code objects and modules that are seen are kept alive until the end of the recording.
    """
    if capacity < 1:
        raise HarnessError(f"A buffer of {capacity} events holds nothing.", "capacity must be 1 or more.")
    if capacity > MAX_CAPACITY:
        raise HarnessError(
            f"A buffer of {capacity} events is more than the recorder can number.",
            f"capacity must be {MAX_CAPACITY} or less.",
        )
    options = {
        "forward": forward,
        "backward": backward,
        "tensors": shapes or memory,
        "inner_ops": inner_ops,
        "interpose": True,
        "capacity": capacity,
    }
    return Recording(options, memory=memory)
