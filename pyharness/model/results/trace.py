"""What a recording holds: the ops and autograd nodes that ran, who called them, and what they were called for.

Times are nanoseconds since the recording began. An event's number is its place in ``Trace.events``, in order of start.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from pyharness.model.frozen import frozen
from pyharness.model.user_code import is_user_python

MAX_CAPACITY = 1 << 28
"""Events of a thread's buffer at most: the recorder numbers what it notes of them, 16 words each, in 32 bits."""
Kind = Literal["op", "node"]
"""A forward op that the dispatcher ran, or an autograd node that the engine ran."""


@dataclass(frozen=True, slots=True)
class Call:
    """One Python frame below which an op was called, or a backward pass was started."""

    file: str
    line: int
    function: str
    module: str | None = None
    """Path of the ``nn.Module`` whose call this frame is in, from the outermost module that was called (``""`` is that
    one itself); ``None`` outside of any module."""
    node: str | None = None
    """Name of the ``fx.Node`` where the line is generated."""

    def to_json(self) -> dict[str, Any]:
        """The object that ``--json`` prints."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class TensorInfo:
    """What was noted of one tensor: never its values."""

    shape: tuple[int, ...]
    """-1 for a size that is no number: a symbol's, a nested tensor's."""
    dtype: str
    """The dtype as torch names it, e.g. ``float32``."""
    device: str

    def __str__(self) -> str:
        sizes = ("?" if size < 0 else str(size) for size in self.shape)
        return f"{self.dtype}[{', '.join(sizes)}]"

    def to_json(self) -> dict[str, Any]:
        """The object that ``--json`` prints."""
        return {"shape": list(self.shape), "dtype": self.dtype, "device": self.device}


@dataclass(frozen=True, slots=True)
class Event:
    """One run of an op or of a node."""

    number: int
    kind: Kind
    name: str
    """``aten::mul``, ``MulBackward0``: as torch names it."""
    overload: str
    """``Tensor`` of ``aten::mul.Tensor``; empty where there is none, and for nodes."""
    thread: int
    """Kernel thread id."""
    start: int
    duration: int
    depth: int
    """How many ops and nodes of this recording it ran inside of, on its thread."""
    parent: int | None
    """Number of the innermost of these."""
    graph_task: int | None
    """Which run of the engine it belongs to; ``None`` outside of any."""
    reentrant: int
    """How many runs of the engine it is in: 0 in forward, 1 in backward, 2 in a backward that a node started."""
    sequence: int | None
    """Sequence number of the node, or the one that the first node which the op makes will get."""
    forward: int | None
    """For a node: number of the op that made it, where that was recorded."""
    stack: tuple[Call, ...]
    """Who called it, innermost first; for a node whose ``forward`` is known, who called that."""
    approximate: bool = False
    """``forward`` is the op nearest to the node's making, not one that was seen to make it."""
    inputs: tuple[TensorInfo, ...] | None = None
    """``None`` where shapes were not asked for."""
    outputs: tuple[TensorInfo, ...] | None = None
    memory: int | None = None
    """Bytes of the storages that its outputs brought; ``None`` where it was not asked for."""
    nodes: tuple[str, ...] = ()
    """For a kernel of torch.compile's: the nodes of the graph that the call computes, where there is a map."""

    @property
    def origin(self) -> Call | None:
        """Where it comes from: the innermost caller that is generated code or the user's, else the innermost."""
        return origin_of(self.stack)

    @property
    def module(self) -> str | None:
        """Path of the innermost module that it was called in; ``None`` outside of any."""
        return next((call.module for call in self.stack if call.module is not None), None)

    @property
    def is_kernel(self) -> bool:
        """Whether it is a kernel of torch.compile's, also one that there is no map of."""
        return self.kind == "op" and (bool(self.nodes) or self.name.startswith("cpp_"))

    @property
    def end(self) -> int:
        """``start`` + ``duration``."""
        return self.start + self.duration

    def to_json(self) -> dict[str, Any]:
        """The object that ``--json`` prints."""
        origin = self.origin
        return {
            "number": self.number,
            "kind": self.kind,
            "name": self.name,
            "overload": self.overload,
            "thread": self.thread,
            "start_ns": self.start,
            "duration_ns": self.duration,
            "depth": self.depth,
            "parent": self.parent,
            "graph_task": self.graph_task,
            "reentrant": self.reentrant,
            "sequence": self.sequence,
            "forward": self.forward,
            "approximate": self.approximate,
            "module": self.module,
            "origin": origin.to_json() if origin else None,
            "inputs": [info.to_json() for info in self.inputs] if self.inputs is not None else None,
            "outputs": [info.to_json() for info in self.outputs] if self.outputs is not None else None,
            "memory": self.memory,
            "nodes": list(self.nodes),
        }


@dataclass(frozen=True, slots=True)
class GraphTask:
    """One run of the engine."""

    number: int
    """The engine's own: ``torch._C._current_graph_task_id()``."""
    call: str
    """Which call started it: ``backward``, ``grad``, or another function's name; empty where no Python did."""
    thread: int
    start: int
    duration: int
    nodes: int
    """How many nodes of it were recorded."""
    parent: int | None
    """The run during which it was started, on the same thread."""
    stack: tuple[Call, ...]

    @property
    def origin(self) -> Call | None:
        """The user's line that started it."""
        return origin_of(self.stack)

    def to_json(self) -> dict[str, Any]:
        """The object that ``--json`` prints."""
        origin = self.origin
        return {
            "number": self.number,
            "call": self.call,
            "thread": self.thread,
            "start_ns": self.start,
            "duration_ns": self.duration,
            "nodes": self.nodes,
            "parent": self.parent,
            "origin": origin.to_json() if origin else None,
        }


@frozen
class Trace:
    """A finished recording."""

    events: tuple[Event, ...]
    graph_tasks: tuple[GraphTask, ...]
    lost: int
    """Events that were recorded and overwritten by later ones, because a thread had more than its buffer holds."""
    threads: dict[int, str] = field(default_factory=dict)
    """Kernel thread id → name, of the threads that have events."""
    program: str = ""
    """What was recorded, as a person would name it."""
    children: float = 0.0
    """Seconds of processor time of child processes that ended meanwhile and were waited for: nothing else is known of
    them, for a recording is of one process."""
    begun: int = 0
    """When the recording began, in nanoseconds since the epoch; 0 where that is not known."""
    rank: int | None = None
    """The number that a launcher gave the process; ``None`` for no rank, and for several together."""
    run: str = ""
    """What tells the run of a job from others; empty where nobody says."""
    host: str = ""
    behind: int | None = None
    """Nanoseconds by which the host's clock is behind that of the first rank's host; ``None`` where nobody knows."""
    notes: tuple[str, ...] = ()
    """What is to be known of the times."""
    ranks: dict[int, int] = field(default_factory=dict)
    """Thread → its rank, where the recordings of several ranks are together."""

    @cached_property
    def nodes(self) -> tuple[Event, ...]:
        """The backward half."""
        return tuple(event for event in self.events if event.kind == "node")

    @cached_property
    def ops(self) -> tuple[Event, ...]:
        """The forward half."""
        return tuple(event for event in self.events if event.kind == "op")

    @property
    def duration(self) -> int:
        """From the first start to the last end."""
        return max((event.end for event in self.events), default=0) - min((e.start for e in self.events), default=0)

    def to_json(self) -> dict[str, Any]:
        """The object that ``--json`` prints."""
        return {
            "program": self.program,
            "lost": self.lost,
            "children_seconds": self.children,
            "threads": {str(number): name for number, name in self.threads.items()},
            "begun_ns": self.begun,
            "rank": self.rank,
            "host": self.host,
            "clock_behind_ns": self.behind,
            "notes": list(self.notes),
            "ranks": {str(number): rank for number, rank in self.ranks.items()},
            "graph_tasks": [task.to_json() for task in self.graph_tasks],
            "events": [event.to_json() for event in self.events],
        }


def origin_of(stack: tuple[Call, ...]) -> Call | None:
    """The innermost caller that is generated code or the user's, else the innermost."""
    own = (call for call in stack if call.node is not None or is_user_python(call.file))
    return next(own, stack[0] if stack else None)
