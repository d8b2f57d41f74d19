"""A tracer that remembers, for each node, the module that made it and the user's line; leaves are an argument."""

from __future__ import annotations

import builtins
import os
import sys
import traceback
import typing
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch.fx
from torch.fx.proxy import TraceError

from pyharness.fx import provenance
from pyharness.fx.tracing import leaves as leaf_rules
from pyharness.fx.tracing import remembered
from pyharness.fx.tracing import tags as node_tags
from pyharness.fx.tracing.left_behind import ModuleState, assigned_data
from pyharness.model.errors import HarnessError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from torch import nn

    from pyharness.fx.provenance import Provenance
    from pyharness.fx.tracing.leaves import Given
    from pyharness.fx.tracing.left_behind import Assigned
    from pyharness.fx.tracing.tags import Taggers


_FX = f"{Path(torch.fx.__file__).parent}{os.sep}"


class CannotTraceError(HarnessError, TraceError):
    """A module's ``forward`` does what a symbolic value cannot: it branches on one, or iterates over one."""


class Tracer(torch.fx.Tracer):
    """``torch.fx.Tracer`` with provenance on each node: in ``node.meta`` and in ``tracer.provenance``.

    The record is kept by everything that copies nodes: ``node_copy``, ``deepcopy``, ``Transformer``, and pickles of a
    GraphModule that is made of the graph. Other tracers can be derived from this one together with it.

    Args:
        leaves: modules to keep whole, as one ``call_module`` node each: rules as ``leaves.Rule`` says, one or many.
        inline: modules to trace into although torch would not (``nn.ReLU`` becomes its function). Their buffers
            become nodes, as their parameters do. Where both name a module, its path counts more than a pattern or a
            type, and those more than a predicate; else ``leaves`` does.
        tags: called with each node as it is made; the dict that it returns is added to the node's tags.
        torchs: what is not named is for ``torch.fx.Tracer``.
        more_of_torchs: the same.

    """

    provenance: dict[str, Provenance]
    """Provenance of each node of the last trace, by node name."""

    def __init__(
        self, *torchs: Any, leaves: Given = (), inline: Given = (), tags: Taggers = (), **more_of_torchs: Any
    ) -> None:
        super().__init__(*torchs, **more_of_torchs)
        self.provenance = {}
        self._leaves = leaf_rules.ModuleRules.of(leaves)
        self._inline = leaf_rules.ModuleRules.of(inline)
        self._taggers = node_tags.taggers(tags)
        self._types: dict[str, type] = {}
        self._failed_in: tuple[str, str] | None = None
        self._proxies: list[torch.fx.Proxy] = []

    def trace(self, root: nn.Module | Callable[..., Any], *args: Any, **kwargs: Any) -> torch.fx.Graph:
        """Trace as ``torch.fx.Tracer.trace`` does.

        Raises ``UsageError`` for a path of ``leaves`` or ``inline`` that is not there, ``CannotTraceError`` with the
        module and the line where a ``forward`` cannot be traced.
        """
        _forget_stale_wraps()
        self.provenance, self._failed_in = {}, None
        self._types = _types(getattr(type(root), self.traced_func_name, root))
        if isinstance(root, torch.nn.Module):
            for rules in (self._leaves, self._inline):
                rules.check_paths(root)
        graph = self._traced(root, *args, **kwargs)
        remembered.recall(graph, self.root)
        remembered.attach(graph)
        self.provenance = {node.name: provenance.of(node) for node in graph.nodes}
        return graph

    def _traced(self, root: nn.Module | Callable[..., Any], *args: Any, **kwargs: Any) -> torch.fx.Graph:
        """Trace; whatever comes of it, no symbolic value stays in the user's modules."""
        state = ModuleState(root) if isinstance(root, torch.nn.Module) else None
        assigned: list[Assigned] = []
        self._proxies = []
        try:
            graph = super().trace(root, *args, **kwargs)
        except CannotTraceError:
            raise
        except TraceError as error:
            raise self._explained(error, root) from error
        finally:
            assigned += (*assigned_data(self._proxies), *(state.put_back() if state else ()))
            self._proxies = []
        if assigned:
            raise self._lost(assigned[0])
        return graph

    def proxy(self, node: torch.fx.Node) -> torch.fx.Proxy:
        """Make a symbolic value as ``torch.fx.Tracer.proxy`` does."""
        made = super().proxy(node)
        self._proxies.append(made)
        return made

    def create_node(self, *args: Any, **kwargs: Any) -> torch.fx.Node:
        """Create a node as ``torch.fx.Tracer.create_node`` does, with the record and the tags."""
        node = super().create_node(*args, **kwargs)
        provenance.record(self, node, sys._getframe(1))  # noqa: SLF001  (a traceback object would cost the most)
        node_tags.record_tags(node, self._taggers)
        if isinstance(node.type, str):  # a postponed annotation: torch could not pickle the text
            node.type = self._types.get("return" if node.op == "output" else str(node.target))
        self.provenance[node.name] = provenance.of(node)
        return node

    def is_leaf_module(self, m: nn.Module, module_qualified_name: str) -> bool:
        """Whether a module is a leaf: by ``leaves`` and ``inline``, else by ``torch.fx.Tracer.is_leaf_module``."""
        said = leaf_rules.is_leaf(self._leaves, self._inline, m, module_qualified_name)
        return super().is_leaf_module(m, module_qualified_name) if said is None else said

    def call_module(self, m: nn.Module, *args: Any, **kwargs: Any) -> Any:
        """Call a module as ``torch.fx.Tracer.call_module`` does; a call that raises restores torch's module stack."""
        before = self.module_stack.copy()
        path = self.path_of_module(m)
        try:
            with self._buffers_of(m, path):
                return super().call_module(m, *args, **kwargs)
        except BaseException:
            self._failed_in = self._failed_in or (path, type(m).__name__)
            self.module_stack.clear()
            self.module_stack.update(before)
            raise

    @contextmanager
    def _buffers_of(self, module: nn.Module, path: str) -> Iterator[None]:
        """Buffers as nodes in a module of torch's that is traced into: a batch norm would count its batch right now."""
        before = self.proxy_buffer_attributes
        self.proxy_buffer_attributes = before or self._inline.rank(module, path) is not None
        try:
            yield
        finally:
            self.proxy_buffer_attributes = before

    def _explained(self, error: TraceError, root: Any) -> CannotTraceError:
        path, kind = self._failed_in or ("", getattr(root, "__name__", type(root).__name__))
        frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
        code = [frame for frame in frames if not frame.f_code.co_filename.startswith(_FX)]
        where = f" at {code[-1].f_code.co_filename}:{code[-1].f_lineno}" if code else ""
        whole = f"it whole with leaves={path!r}" if path else "the module whole that does it, with leaves=..."
        return CannotTraceError(
            f"{path or 'the root'} ({kind}) cannot be traced{where}: {str(error).rstrip('.')}.",
            f"Keep {whole}, or fix the input that decides with concrete_args.",
        )

    def _lost(self, assigned: Assigned) -> CannotTraceError:
        path, target, node = assigned
        kind = type(self.root.get_submodule(path)).__name__
        _, file, line = provenance.of(node)
        where = f" at {file}:{line}" if file else ""
        keep = f", or keep it whole with leaves={path!r}" if path else ""
        return CannotTraceError(
            f"{path or 'the root'} ({kind}) cannot be traced{where}: it assigns {target}, which a graph cannot.",
            f"Change that tensor in place, with {target.removesuffix('.data')}.copy_(...){keep}.",
        )

    def _filter_traceback_frames(self, user_stack_summary: traceback.StackSummary) -> traceback.StackSummary:
        """Keep ``record_stack_traces`` free of this file: its frames are nearer to the node than the user's."""
        mine = {__file__, provenance.__file__}
        kept = [frame for frame in user_stack_summary if frame.filename not in mine]
        return super()._filter_traceback_frames(traceback.StackSummary.from_list(kept))


def _forget_stale_wraps() -> None:
    """Take back what generated code has wrapped and does not have, which torch would stumble over in each later trace.

    A node keeps that its function was one of ``torch.fx.wrap``'s (``meta["is_wrapped"]``) when a pass gives it another.
    """
    wrapped = getattr(torch.fx._symbolic_trace, "_wrapped_fns_to_patch", {})  # noqa: SLF001
    for key, names in list(wrapped.items()):
        if key[1] not in names and not hasattr(builtins, key[1]):
            del wrapped[key]


def _types(function: Any) -> dict[str, type]:
    """The classes that ``function``'s annotations mean; no more than that of annotations that mean nothing here."""
    try:
        hints = typing.get_type_hints(function)
    except (NameError, TypeError, AttributeError, SyntaxError):
        return {}
    return {name: hint for name, hint in hints.items() if isinstance(hint, type)}


def trace(
    root: nn.Module | Callable[..., Any],
    *,
    leaves: Given = (),
    inline: Given = (),
    tags: Taggers = (),
    concrete_args: Mapping[str, Any] | None = None,
) -> torch.fx.GraphModule:
    """``torch.fx.symbolic_trace`` with our ``Tracer``: the GraphModule of ``root``, of the same name."""
    tracer = Tracer(leaves=leaves, inline=inline, tags=tags)
    graph = tracer.trace(root, dict(concrete_args) if concrete_args else None)
    name = type(root).__name__ if isinstance(root, torch.nn.Module) else getattr(root, "__name__", "GraphModule")
    return torch.fx.GraphModule(tracer.root, graph, name)
