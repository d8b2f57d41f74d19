"""Transforms that iterate over sets, and some that only look as if they did."""

from collections import defaultdict

import torch
from torch import fx, nn


class Model(nn.Module):
    def forward(self, x):
        parts = [torch.sin(x), torch.cos(x), torch.tanh(x), torch.exp(x), torch.relu(x)]
        return sum(parts)


def scale(graph, node):
    with graph.inserting_after(node):
        new = graph.call_function(torch.mul, (node, 2.0))
    node.replace_all_uses_with(new, lambda user: user is not new)


def unary(module):
    return {node for node in module.graph.nodes if node.op == "call_function" and len(node.args) == 1}


def by_nodes(module):
    found = unary(module)
    for node in found:  # @nodes
        scale(module.graph, node)
    module.recompile()


def by_names():
    module = fx.symbolic_trace(Model())
    names = set()
    for node in module.graph.nodes:
        if node.op == "call_function" and len(node.args) == 1:
            names.add(node.name)
    known = {node.name: node for node in module.graph.nodes}
    for name in list(names):  # @names
        scale(module.graph, known[name])
    return fx.GraphModule(module, module.graph)


class Pass:
    def __call__(self, graph: fx.Graph) -> fx.Graph:
        self.seen = set()
        self.users = defaultdict(set)
        for node in graph.nodes:
            for each in node.all_input_nodes:
                self.users[each].add(node)
            self.seen.add(node)
        self.change(graph)
        return graph

    def change(self, graph):
        for node in [each for each in self.seen if each.op == "call_function" and len(each.args) == 1]:  # @attribute
            scale(graph, node)
        for users in self.users.values():
            first = next(iter(users))  # @held
            first.meta["first"] = True


by_object = Pass()


COUNT = 0


def sorted_first(module):
    global COUNT
    COUNT += 1  # so each run differs from the one before, in every process
    next(iter(module.graph.nodes)).name = f"input_{COUNT}"
    found = unary(module)
    if any(node.op == "placeholder" for node in found):
        raise ValueError
    found = sorted(found)
    for node in found:
        scale(module.graph, node)
    for node in dict.fromkeys(module.graph.nodes):
        node.meta["seen"] = len({each.name for each in node.users})
    module.recompile()
    return module


def raises(module):
    raise RuntimeError("not today")
