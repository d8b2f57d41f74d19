"""Turns a graph that computes y from x into one that computes x from y."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import torch.fx
from torch import Tensor, nn
from torch.fx import Graph, GraphModule, Node, Proxy
from torch.fx.node import map_arg

import pyharness.fx.transforms.inverses as _ours  # noqa: F401  (fills the table)
from pyharness.fx import provenance
from pyharness.fx.code.mapping import target_of
from pyharness.fx.tracing.tags import inherit, tag
from pyharness.fx.tracing.tracer import CannotTraceError
from pyharness.fx.transforms.canonical import is_in_place
from pyharness.fx.transforms.inlining import inline
from pyharness.fx.transforms.invertible import has_inverse, inverse_of
from pyharness.fx.transforms.registry import TAG, TransformError, transform
from pyharness.model.errors import UsageError, nearest

if TYPE_CHECKING:
    from pyharness.fx.transforms.invertible import Inverse

_OPERANDS = {"input": 0, "self": 0, "other": 1, "exponent": 1}
"""Where torch's functions have these arguments, if somebody names them."""


class NotInvertibleError(TransformError):
    """A node that has no inverse; ``node`` is its name."""

    def __init__(self, node: Node, reason: str, remedy: str = "") -> None:
        found = provenance.of(node)
        module = f" in {found.module}" if found.module else ""
        line = f" at {found.file}:{found.line}" if found.file else ""
        super().__init__(f"{node.name} ({target_of(node)}{module}{line}) cannot be inverted: {reason}.", remedy)
        self.node = node.name


@transform("invert")
def invert(module: GraphModule, *, of: str = "") -> GraphModule:
    """The inverse of a function of one value: its input is the value, its output the input that gives that value.

    Every step between must be one of ``invertible.INVERSES`` (functions, methods and modules; other modules are
    inlined first) with one operand that depends on the input; other operands are constants, parameters, what is
    computed from them, or further inputs. The inverse gives back x where every step's operand lies in its ``domain``,
    which is on the nodes as the tag ``domain``, beside ``inverse_of``, the node that they undo.

    Args:
        module: a graph that returns one value, maybe in a tuple.
        of: name of the input to solve for; may be left out where there is one. The others stay inputs, after the value.

    Raises ``NotInvertibleError``, which names the node.

    """
    module = _in_functions(module)
    unknown = _unknown(module.graph, of)
    output = module.graph.process_outputs(module.graph.output_node().args[0])  # torch.export packs it
    if isinstance(output, list | tuple) and len(output) == 1:
        output = output[0]
    depending = _depending(unknown)
    if not isinstance(output, Node):
        raise NotInvertibleError(module.graph.output_node(), "it returns more than one value")
    if output not in depending:
        raise NotInvertibleError(module.graph.output_node(), f"what it returns does not depend on {unknown.name}")
    _check_in_place(depending)
    return GraphModule(module, _Inversion(module, unknown, depending).graph(output), type(module).__name__)


def _in_functions(module: GraphModule) -> GraphModule:
    for node in module.graph.nodes:
        if node.op == "call_module" and not has_inverse(module.get_submodule(str(node.target))):
            try:
                module = inline(module, str(node.target), leaves=lambda each, _: has_inverse(each))
            except CannotTraceError as error:
                raise NotInvertibleError(node, "nothing is known to undo it, nor what it consists of") from error
            return _in_functions(module)
    return module


def _unknown(graph: Graph, of: str) -> Node:
    inputs: dict[str, Node] = {str(node.target): node for node in graph.nodes if node.op == "placeholder"}
    if not of and len(inputs) == 1:
        return next(iter(inputs.values()))
    if of not in inputs:
        names = ", ".join(inputs) or "none"
        asked = f"no input {of!r}" if of else f"{len(inputs)} inputs"
        raise UsageError(f"The graph has {asked}.", nearest(of, inputs) or f"Say which one with of=...: {names}.")
    return inputs[of]


def _depending(unknown: Node) -> dict[Node, None]:
    """``unknown`` and every node that depends on it, in order."""
    found = {unknown: None}
    for node in unknown.graph.nodes:
        if node.op != "output" and any(each in found for each in node.all_input_nodes):
            found[node] = None
    return found


def _check_in_place(depending: dict[Node, None]) -> None:
    """An in-place op changes what every other reader of its operand sees: then values are no function of their node."""
    for node in filter(is_in_place, depending):
        for operand in node.all_input_nodes[:1]:
            if operand in depending and len(operand.users) > 1:
                raise NotInvertibleError(node, f"it changes {operand.name} in place, which others read")


class _Symbolic:
    """A module whose parameters and buffers are nodes: a value read now would be a constant of the inverse."""

    def __init__(self, module: nn.Module, path: str, tracer: torch.fx.Tracer) -> None:
        self._module, self._path, self._tracer = module, path, tracer

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._module, name)
        path = f"{self._path}.{name}"
        if isinstance(value, Tensor):
            return self._tracer.create_proxy("get_attr", path, (), {})
        return _Symbolic(value, path, self._tracer) if isinstance(value, nn.Module) else value


class _Inversion:
    """Builds the new graph from the output's value back to the input."""

    def __init__(self, module: GraphModule, unknown: Node, depending: dict[Node, None]) -> None:
        self._module = module
        self._unknown = unknown
        self._depending = depending
        self._graph = Graph()
        self._tracer = torch.fx.Tracer()
        self._tracer.graph, self._tracer.root, self._tracer.tensor_attrs = self._graph, module, {}
        self._known: dict[Node, Node] = {}

    def graph(self, output: Node) -> Graph:
        value = Proxy(self._graph.placeholder("y"), self._tracer)
        for node in self._module.graph.nodes:
            if node.op == "placeholder" and node is not self._unknown:
                self._known[node] = self._graph.node_copy(node)
        node = output
        while node is not self._unknown:
            value, node = self._undone(node, value)
        inherit(self._graph.output(value.node), self._module.graph.output_node())
        return self._graph

    def _undone(self, node: Node, value: Proxy) -> tuple[Proxy, Node]:
        """The operand of ``node``, as a value and as a node."""
        operand, arguments, keywords, entry = self._operand(node)
        constants = map_arg(cast("Any", (arguments, keywords)), cast("Any", self._constant))
        before = set(self._graph.nodes)
        try:
            undone = entry.build(value, *constants[0], **constants[1])
        except (ValueError, TypeError) as error:  # a reason of its own, or arguments that nobody has thought of
            raise NotInvertibleError(node, str(error).removeprefix("_() ")) from error
        for made in self._graph.nodes:
            if made not in before:
                made.meta.clear()
                inherit(made, node)
                tag(made, **{TAG: "invert"}, inverse_of=node.name, domain=entry.domain)
        return undone, operand

    def _operand(self, node: Node) -> tuple[Node, list[Any], dict[str, Any], Inverse]:
        operands = [each for each in node.all_input_nodes if each in self._depending]
        keywords = dict(node.kwargs)
        named = sorted((_OPERANDS[name], name) for name in keywords if name in _OPERANDS)
        arguments: list[Any] = [*node.args, *(keywords.pop(name) for _, name in named)]
        places = [place for place, each in enumerate(arguments) if each in operands]
        if len(operands) > 1 or len(places) > 1:
            names = " and ".join(each.name for each in operands * (3 - len(operands)))
            raise NotInvertibleError(node, f"it takes two values that depend on {self._unknown.name}: {names}")
        entry = inverse_of(node, self._module, places[0]) if places else None
        if entry is None:
            raise NotInvertibleError(
                node,
                "nothing is known to undo it",
                'Register what does: @pyharness.fx.transforms.inverse(function, domain="...").',
            )
        del arguments[places[0]]
        if node.op == "call_module":
            arguments.insert(0, _Symbolic(self._module.get_submodule(str(node.target)), str(node.target), self._tracer))
        return operands[0], arguments, keywords, entry

    def _constant(self, node: Node) -> Proxy:
        """What does not depend on the input is computed as before."""
        if node not in self._known:
            self._known[node] = self._graph.node_copy(node, lambda each: self._constant(each).node)
        return Proxy(self._known[node], self._tracer)
