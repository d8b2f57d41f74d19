"""Keeps what each GraphModule of this process was whenever its code was generated, and the shapes of a call."""

from __future__ import annotations

import contextlib
import functools
import sys
import weakref
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from pyharness.fx.code import files
from pyharness.fx.graphs import makers
from pyharness.fx.graphs.observed import observed
from pyharness.fx.graphs.snapshot import snapshot
from pyharness.model.graph import MadeGraph

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torch.fx import GraphModule

    from pyharness.model.graph import Graph, KernelBox

_MOST = 50
"""Versions of one GraphModule that are kept: the first one and the latest."""
_HANDED_ON = "pyharness_handed_on"
"""In ``GraphModule.meta``: which one it is, for the copy that torch compiles in place of it (AOT's backward)."""


@dataclass(eq=False)
class _Made:
    """One GraphModule; it lives no longer because of us, unless it is to be exported."""

    maker: str
    module: GraphModule | None = None
    """The GraphModule itself, where somebody wants to export it at the end."""
    versions: list[tuple[Graph, dict[str, str]]] = field(default_factory=list)
    dropped: int = 0
    seen: bool = False
    """Whether a call of the latest version was looked at."""
    became_code: bool = False
    """Whether inductor has lowered it: what torch keeps of it then has lost its places and shapes."""

    def add(self, graph: Graph) -> None:
        if self.became_code or (self.versions and self.versions[-1][0] == graph):
            return
        self.seen = False
        self.versions.append((graph, {}))
        if len(self.versions) > _MOST:
            del self.versions[1]
            self.dropped += 1


class GraphsMade:
    """Every GraphModule from ``follow`` on, in the order in which they were made."""

    def __init__(self, *, keep: bool = False) -> None:
        self._keep = keep
        self._all: list[_Made] = []
        self._of: weakref.WeakKeyDictionary[GraphModule, _Made] = weakref.WeakKeyDictionary()

    def follow(self) -> None:
        """torch.fx is there: be told of each GraphModule that is made, compiled and called."""
        from torch.fx import graph_module

        self._follow_init(graph_module.GraphModule)
        self._follow_calls(graph_module._WrappedCall)
        files.WATCHERS.append(lambda module, _: self.note(module))

    def note(self, module: GraphModule, maker: str = makers.INTERNAL) -> None:
        """Keep what ``module`` is now; ``maker`` names one that was handed to somebody after all."""
        made = self._made(module)
        made.maker = made.maker or maker
        if maker:
            module.meta[_HANDED_ON] = self._all.index(made)
        made.add(snapshot(module))
        if maker:
            for name, inner in module.named_modules():
                if inner is not module and inner in self._of:
                    self.note(inner, f"{maker}, {name}")

    def lowered(self, module: GraphModule) -> tuple[int, Graph]:
        """The number of ``module`` for ``became``, and what inductor has just lowered."""
        made = self._made(module)
        made.maker = made.maker or "inductor"
        graph = snapshot(module)
        made.add(graph)
        made.became_code = True
        return self._all.index(made), graph

    def became(self, number: int, graph: Graph, kernels: tuple[KernelBox, ...]) -> None:
        """Note the kernels of a graph that was lowered."""
        made = self._all[number]
        made.versions = [
            (replace(each, kernels=kernels) if each == graph else each, shapes) for each, shapes in made.versions
        ]

    def result(self, *, everything: bool = False) -> list[MadeGraph]:
        """What was made by the user's code, and what torch's compilers handed on; ``everything``: their own, too."""
        names: dict[str, int] = {}
        return [_graph(number, each, names) for number, each in enumerate(self._shown(everything=everything), 1)]

    def module(self, number: int, *, everything: bool = False) -> GraphModule | None:
        """The module with this number in ``result``."""
        return self._shown(everything=everything)[number - 1].module

    def _shown(self, *, everything: bool) -> list[_Made]:
        return [each for each in self._all if each.versions and (each.maker or everything)]

    def _made(self, module: GraphModule, depth: int = 2) -> _Made:
        made = self._of.get(module)
        if made is None:
            made = self._of[module] = _Made(makers.maker(sys._getframe(depth)), module if self._keep else None)
            self._all.append(made)
        number = getattr(module, "meta", {}).get(_HANDED_ON)  # not there yet while it is made
        if not made.maker and number is not None:
            made = self._of[module] = self._all[number]
            made.module = module if self._keep else None
        return made

    def _follow_init(self, cls: Any) -> None:
        original = cls.__init__

        @functools.wraps(original)
        def making(module: Any, *args: Any, **kwargs: Any) -> None:
            self._made(module)
            original(module, *args, **kwargs)

        cls.__init__ = making

    def _follow_calls(self, cls: Any) -> None:
        original = cls.__call__

        @functools.wraps(original)
        def calling(call: Any, module: Any, *args: Any, **kwargs: Any) -> Any:
            with self._looking(module):
                return original(call, module, *args, **kwargs)

        cls.__call__ = calling

    @contextlib.contextmanager
    def _looking(self, module: GraphModule) -> Iterator[None]:
        """At the first call of each version; a call while somebody traces has no shapes to show."""
        made = self._of.get(module)
        if made is None or made.seen or not made.versions or _is_traced():
            yield
            return
        made.seen = True
        with observed(module, *made.versions[-1]):
            yield


def _is_traced() -> bool:
    from torch.fx import _symbolic_trace
    from torch.utils._python_dispatch import _get_current_dispatch_mode

    tracing = getattr(_symbolic_trace, "_is_fx_tracing_flag", False)  # the function that asks for it warns
    return bool(tracing) or _get_current_dispatch_mode() is not None


def _graph(number: int, made: _Made, names: dict[str, int]) -> MadeGraph:
    name = made.versions[-1][0].name
    names[name] = names.get(name, 0) + 1
    unique = name if names[name] == 1 else f"{name}-{names[name]}"
    versions = tuple(graph.with_shapes(shapes) for graph, shapes in made.versions)
    return MadeGraph(number, unique, made.maker or "torch, for itself", versions, made.dropped)
