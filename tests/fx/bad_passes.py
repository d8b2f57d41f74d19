"""Passes with one fault each; some need a place that one of ``good_passes`` makes."""

import operator

import torch
from good_passes import calls
from torch import nn


def swap_operands(graph):
    """Of one subtraction in the middle."""
    subs = calls(graph, operator.sub)
    node = subs[len(subs) // 2]
    node.args = node.args[::-1]


def drop_cast(gm):
    """The last one back to float32."""
    casts = [node for node in gm.graph.nodes if node.op == "call_method" and node.args[1:] == (torch.float32,)]
    casts[-1].replace_all_uses_with(casts[-1].args[0])
    gm.graph.erase_node(casts[-1])


def wrong_dim(gm):
    for node in gm.graph.nodes:
        if node.op == "call_method" and node.target == "mean":
            node.args = (node.args[0], (1, 2))
            return gm
        if node.op == "call_method" and node.target == "transpose":
            node.args = (node.args[0], 2, 1) if node.args[1:] != (1, 2) else (node.args[0], 1, 1)
            return gm
    raise AssertionError


def in_place(gm):
    """A product of a value that is used again."""
    later = set()
    for node in reversed(gm.graph.nodes):
        if node.target is operator.mul and node.args[0] in later:
            node.target = operator.imul
        later.update(node.all_input_nodes)


def stale_parameter(gm):
    """The head's weight as it was before another pass scaled it."""
    gm.head.weight = nn.Parameter(gm.kept_head)


def dropout_mode(gm):
    source = next(node for node in reversed(gm.graph.nodes) if node.op == "call_module")
    with gm.graph.inserting_after(source):
        new = gm.graph.call_function(nn.functional.dropout, (source, 0.5), {"training": True})
    source.replace_all_uses_with(new, lambda user: user is not new)


def merge_equal(gm):
    """Common subexpressions, the one to keep taken from a set."""
    equal = {}
    for node in gm.graph.nodes:
        if node.op == "call_function":
            equal.setdefault(f"{node.target} {node.args}", set()).add(node)
    for nodes in equal.values():
        kept = nodes.pop()
        for other in nodes:
            other.replace_all_uses_with(kept)
            gm.graph.erase_node(other)


FAULTS = {
    wrong_dim: 1,
    swap_operands: 4,
    dropout_mode: 7,
    drop_cast: 8,
    stale_parameter: 10,
    in_place: 11,
    merge_equal: 12,
}
"""How many of the good passes come before each: those that make its place, at least."""
