"""A graph on which a pass fails, with the values that it is called with and those that its nodes had."""

from __future__ import annotations

import inspect
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import torch
from torch.fx import Graph, GraphModule, Interpreter
from torch.fx.graph import CodeGen

from pyharness.fx.bisecting.checks import Values, copied

if TYPE_CHECKING:
    from collections.abc import Mapping

    from torch.fx import Node


@dataclass(frozen=True)
class Case:
    """A candidate while shrinking."""

    module: GraphModule
    inputs: Mapping[str, Any]
    """By placeholder name; empty where the check alone knows what to call the module with."""
    seen: Mapping[str, Any] = field(default_factory=dict)
    """What each node of the first graph gave, by name; nothing for a node whose value cannot be kept."""
    whole: bool = False
    """Whether the pass needs what the module has beside the graph: other parameters, submodules and attributes."""

    def with_graph(self, graph: Graph, inputs: Mapping[str, Any], rest: GraphModule | None = None) -> Case:
        """The case of another graph; ``rest`` has more attributes for it."""
        rest = rest or self.module
        return replace(self, module=with_graph(rest, graph, rest if self.whole else None), inputs=inputs)

    @property
    def values(self) -> Values:
        """The inputs in the order of the placeholders."""
        names = [node.name for node in self.module.graph.nodes if node.op == "placeholder"]
        return Values(tuple(self.inputs[name] for name in names), {})

    @property
    def work(self) -> list[Node]:
        """The nodes that compute something."""
        return [node for node in self.module.graph.nodes if computes(node)]

    @property
    def size(self) -> tuple[int, int, int, int]:
        """What is to become small: computing nodes, all nodes, elements of the inputs, what the module holds."""
        elements = sum(value.numel() for value in self.inputs.values() if isinstance(value, torch.Tensor))
        return len(self.work), len(self.module.graph.nodes), elements, len(held(self.module))


def held(module: GraphModule) -> list[str]:
    """Names of the parameters, buffers and submodules that the root has itself."""
    return [name for table in sorted(_TABLES) for name in vars(module)[table]]


def computes(node: Node) -> bool:
    """Whether the node is a call."""
    return node.op.startswith("call_")


def with_graph(module: GraphModule, graph: Graph, rest: GraphModule | None = None) -> GraphModule:
    """A GraphModule of another graph that shares the parameters and submodules which the graph uses.

    It has no others, but where ``rest`` is given, all that this one has.
    """
    made = GraphModule(module, graph, type(module).__name__)
    for name, value in vars(rest).items() if rest else ():
        if name in _TABLES:
            vars(made)[name].update({key: each for key, each in value.items() if key not in vars(made)[name]})
        else:
            vars(made).setdefault(name, value)
    return made


_TABLES = {"_parameters", "_buffers", "_modules"}


def plain_case(module: GraphModule, values: Values) -> Case:
    """``module`` with plain positional inputs: no defaults, no ``*args``, no nested structures around them."""
    bound = inspect.signature(module.forward).bind(*values.args, **values.kwargs)
    bound.apply_defaults()
    given = module.graph.process_inputs(*bound.args, **bound.kwargs) if _nested(module.graph) else None
    given = list(bound.arguments.values() if given is None else given)
    graph = Graph()
    graph.output(graph.graph_copy(module.graph, {}))
    for node in graph.nodes:
        if node.op == "placeholder":
            node.target, node.args, node.type = node.name, (), None
    names = [node.name for node in graph.nodes if node.op == "placeholder"]
    return Case(with_graph(module, graph), dict(zip(names, given, strict=True)))


def _nested(graph: Graph) -> bool:
    return type(graph._codegen) is not CodeGen  # noqa: SLF001  (torch.export's and dynamo's inputs are pytrees)


def seen_values(module: GraphModule, values: Values) -> dict[str, Any]:
    """What each node gives when ``module`` runs, copied at once: a later node may write into it."""
    recorder = _Recorder(module)
    given = values.fresh()
    with torch.no_grad():
        recorder.run(*given.args)
    return recorder.seen


class _Recorder(Interpreter):
    def __init__(self, module: GraphModule) -> None:
        super().__init__(module)
        self.seen: dict[str, Any] = {}

    def run_node(self, n: Node) -> Any:
        value = super().run_node(n)
        if computes(n) and storable(value):
            self.seen[n.name] = copied(value)
        return value


_PLAIN = (torch.Tensor, bool, int, float, complex, str, type(None), torch.dtype, torch.device)


def storable(value: Any) -> bool:
    """Whether a data file can hold the value without code: tensors, numbers, strings and plain containers of them."""
    if isinstance(value, (tuple, list)):
        return type(value) in {tuple, list, torch.Size} and all(map(storable, value))
    if isinstance(value, dict):
        return type(value) is dict and all(isinstance(key, str) and storable(each) for key, each in value.items())
    return isinstance(value, _PLAIN) and not (isinstance(value, torch.Tensor) and type(value) is not torch.Tensor)
