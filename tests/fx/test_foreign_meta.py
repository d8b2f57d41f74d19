"""Programs that keep things of their own in ``node.meta``, under the names that torch uses too."""

import pytest
import torch
from torch import fx

from pyharness.fx import materialize
from pyharness.fx.code import files
from pyharness.fx.provenance import of
from pyharness.fx.tracing.tags import tags_of


class Touchy:
    def __repr__(self):
        raise RuntimeError

    def __bool__(self):
        raise RuntimeError

    def __eq__(self, other):
        raise RuntimeError

    __hash__ = object.__hash__


FOREIGN = [["a", "list"], 5, "text", ("a",), {1: 2}, torch.ones(3), Touchy(), True]


@pytest.mark.parametrize("value", FOREIGN, ids=lambda value: type(value).__name__)
@pytest.mark.parametrize("key", ["custom", "nn_module_stack", "fwd_nn_module_stack", "stack_trace", "pyharness"])
def test_a_graph_with_it_is_given_its_file(tmp_path, key, value):
    graph = fx.Graph()
    node = graph.call_function(torch.relu, (graph.placeholder("x"),))
    node.meta[key] = value
    graph.output(node)
    module = fx.GraphModule(torch.nn.Module(), graph)
    materialize(module, tmp_path)
    assert module(torch.tensor(-1.0)) == 0
    assert of(node).file is None
    assert key == "custom" or not tags_of(node)


def test_a_module_without_meta_is_given_its_file(tmp_path):
    """torch 2.8 has such a module while it makes the key of its cache."""
    module = fx.symbolic_trace(torch.nn.ReLU())
    module.meta = None
    files.recompiled(module, module.recompile, tmp_path)
    assert type(module).forward.__code__.co_filename.startswith(str(tmp_path))
