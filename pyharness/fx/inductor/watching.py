"""Watches graphs become code and run: for whoever compares what inductor computes with what its graph says."""

from __future__ import annotations

import copy
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from torch import fx

from pyharness.fx import inductor
from pyharness.fx.inductor.captured import compile_id
from pyharness.fx.inductor.graphs import kind_of
from pyharness.fx.inductor.lowering import Lowering
from pyharness.fx.inductor.private import private
from pyharness.fx.inductor.wrappers import text_of
from pyharness.host.state import StateError
from pyharness.model import kernel_files

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pyharness.model.kernel_files import Wrapper
    from pyharness.model.kernel_map import GraphKind, KernelMaps

_GRAPH = "pyharness_graph"
"""The attribute of a graph that is lowered: the graph as it was before."""


@dataclass(eq=False)
class Lowered:
    """A graph that has become code."""

    graph: fx.GraphModule
    """A copy of what inductor got; both share constants."""
    id: str
    """torch's compile id."""
    kind: GraphKind
    text: str
    """The wrapper."""
    module: Any
    """The wrapper as it is loaded."""
    values: dict[str, str]
    """By the name of a variable of the wrapper: the node whose whole value it is."""
    maps: KernelMaps | None = None
    wrapper: Wrapper | None = None
    """``None`` where the graph has no kernels."""


@dataclass
class _Seen:
    """What is told while a graph becomes code."""

    maps: dict[str, KernelMaps] = field(default_factory=dict)
    wrappers: dict[str, Wrapper] = field(default_factory=dict)
    lost: list[str] = field(default_factory=list)


@contextmanager
def watching(run: Callable[[Lowered, Callable[[Any], Any], Any], Any], lost: list[str]) -> Iterator[None]:
    """Meanwhile, have ``run(lowered, call, args)`` run each graph that becomes code.

    ``lost`` gets why a map is missing. ``LackingError`` where this torch lacks a part that we need.
    """
    parts, seen = private(), _Seen(lost=lost)
    lowering = parts.graph.GraphLowering

    def make(original: Callable[..., None], lowered: Any, gm: Any, *args: Any, **named: Any) -> None:
        if isinstance(gm, fx.GraphModule):
            setattr(lowered, _GRAPH, fx.GraphModule(gm, copy.deepcopy(gm.graph)))
        original(lowered, gm, *args, **named)

    def finish(original: Callable[..., Any], lowered: Any) -> Any:
        module = original(lowered)
        graph = getattr(lowered, _GRAPH, None)
        if graph is not None:
            text = text_of(module.__file__)
            found = Lowered(graph, compile_id(), kind_of(lowered), text, module, _values(lowered))
            found.maps, found.wrapper = seen.maps.get(text), seen.wrappers.get(module.__file__)
            call = module.call
            stack.callback(setattr, module, "call", call)  # torch hands the module out again for the same text
            module.call = lambda args: run(found, call, args)
        return module

    with ExitStack() as stack:
        stack.enter_context(_following(seen))
        stack.enter_context(_replacing(lowering, "__init__", make))
        stack.enter_context(_replacing(lowering, "_compile_to_module", finish))
        yield


@contextmanager
def _following(seen: _Seen) -> Iterator[None]:
    def made(text: str, maps: KernelMaps) -> None:
        seen.maps[text] = maps
        with suppress(StateError, OSError):  # a debugger reads it from there; a verification has it
            kernel_files.save(text, maps)

    def loaded(wrapper: Wrapper) -> None:
        seen.wrappers[wrapper.file] = wrapper

    inductor.follow(made, loaded, seen.lost.append)
    try:
        yield
    finally:
        inductor.forget(made)


@contextmanager
def _replacing(owner: Any, name: str, wrapper: Callable[..., Any]) -> Iterator[None]:
    """Call ``wrapper(original, *args)`` in place of a method of ``owner`` for a while."""
    original = getattr(owner, name)

    def instead(*args: Any, **named: Any) -> Any:
        return wrapper(original, *args, **named)

    setattr(owner, name, instead)
    try:
        yield
    finally:
        setattr(owner, name, original)


def _values(lowered: Any) -> dict[str, str]:
    """Buffers whose content is the value of a node from when they are made to the end."""
    found = {}
    for name, buffer in lowered.name_to_buffer.items():
        maker = Lowering.maker_of(buffer)
        if maker is not None and maker.whole and name not in lowered.mutated_buffers:
            found[name] = maker.whole[0]
    return found
