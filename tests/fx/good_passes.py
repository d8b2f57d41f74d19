"""Passes over FX graphs that keep what a model computes; each in one of the forms that passes have."""

import copy
import operator

import torch
from torch import fx, nn
from torch.fx.passes.infra.pass_base import PassBase, PassResult


def nothing(gm):
    return gm


def drop_identity(gm):
    for node in list(gm.graph.nodes):
        if node.op == "call_module" and isinstance(gm.get_submodule(node.target), nn.Identity):
            node.replace_all_uses_with(node.args[0])
            gm.graph.erase_node(node)


def relu_as_clamp(graph):
    for node in calls(graph, torch.relu):
        node.target = torch.clamp
        node.kwargs = {"min": 0.0}


def add_as_sub(graph: fx.Graph) -> fx.Graph:
    for node in calls(graph, operator.add):
        if all(isinstance(arg, fx.Node) for arg in node.args):
            with graph.inserting_before(node):
                negative = graph.call_function(torch.neg, (node.args[1],))
                node.target = operator.sub
                node.args = (node.args[0], negative)
    return graph


def copy_graph(graph: "fx.Graph") -> "fx.Graph":
    return copy.deepcopy(graph)


def cast_around_sub(gm: fx.GraphModule) -> fx.GraphModule:
    for node in calls(gm.graph, operator.sub):
        with gm.graph.inserting_before(node):
            node.args = tuple(widened(gm.graph, arg) for arg in node.args)
        with gm.graph.inserting_after(node):
            back = gm.graph.call_method("to", (node, torch.float32))
        node.replace_all_uses_with(back, lambda user, back=back: user is not back)
    return gm


def widened(graph, arg):
    return graph.call_method("to", (arg, torch.float64)) if isinstance(arg, fx.Node) else arg


class Negate(PassBase):
    """Twice, before the output."""

    def call(self, graph_module):
        [output] = [node for node in graph_module.graph.nodes if node.op == "output"]
        with graph_module.graph.inserting_before(output):
            once = graph_module.graph.call_function(torch.neg, output.args)
            output.args = (graph_module.graph.call_function(torch.neg, (once,)),)
        return PassResult(graph_module, modified=True)


def dead_code(gm):
    return gm.graph.eliminate_dead_code()


def keep_head(gm):
    gm.register_buffer("kept_head", gm.head.weight.detach().clone())


def double_head(gm):
    """The head's weight twice as large, its input half as large: exact."""
    with torch.no_grad():
        gm.head.weight.mul_(2)
    for node in gm.graph.nodes:
        if node.op == "call_module" and node.target == "head":
            with gm.graph.inserting_before(node):
                node.args = (gm.graph.call_function(operator.mul, (node.args[0], 0.5)),)
            return


def repeat_mul(gm):
    """The input of the head once more, behind a node that uses the first."""
    [node] = [node for node in calls(gm.graph, operator.mul) if node.args[1] == 0.5]
    with gm.graph.inserting_before(node.next):
        same = gm.graph.call_function(torch.clone, (node,))
        again = gm.graph.call_function(operator.mul, node.args)
        smallest = gm.graph.call_function(torch.minimum, (same, again))
    node.replace_all_uses_with(smallest, lambda user: user not in {same, again, smallest})


def calls(graph, target):
    return [node for node in graph.nodes if node.op == "call_function" and node.target is target]


GOOD = [
    nothing,
    drop_identity,
    relu_as_clamp,
    add_as_sub,
    copy_graph,
    cast_around_sub,
    Negate(),
    dead_code,
    keep_head,
    double_head,
    repeat_mul,
    nothing,
]
