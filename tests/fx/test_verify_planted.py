"""Faults that transforms really have, each planted in a model and found at its node."""

import copy
import operator

import pytest
import torch
from torch import fx, nn
from torch.fx.experimental.optimization import fuse
from torch.nn import functional

from pyharness.fx import Tracer, verify


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(6, 6)
        self.norm = nn.BatchNorm1d(6)
        self.drop = nn.Dropout(0.5)
        self.scale = nn.Parameter(torch.rand(6))
        self.register_buffer("shift", torch.rand(6))

    def forward(self, x, y):
        a = torch.tanh(self.linear(x))
        b = self.norm(a - y)
        c = (b.half() * 3).float()
        d = torch.softmax(c, dim=-1) * self.scale + self.shift
        e = self.drop(functional.dropout(d, 0.25, self.training))
        return {"sum": e.sum(dim=0), "parts": (a, [b + a, None, 3])}


@pytest.fixture
def net():
    torch.manual_seed(3)
    return Net().eval()


@pytest.fixture
def args():
    torch.manual_seed(4)
    return torch.randn(4, 6), torch.randn(4, 6)


def traced(net):
    return fx.GraphModule(copy.deepcopy(net), Tracer().trace(net))


def node(graph_module, name):
    return next(each for each in graph_module.graph.nodes if each.name == name)


def found(net, changed, args, **how):
    changed.graph.lint()
    changed.recompile()
    verdict = verify(net, changed, args, **how)
    assert not verdict.ok
    return verdict.first


def test_nothing_planted_nothing_found(net, args):
    assert verify(net, traced(net), args).ok
    assert verify(net.train(), traced(net.train()), args).ok


def test_swapped_operands(net, args):
    changed = traced(net)
    sub = node(changed, "sub")
    sub.args = sub.args[::-1]
    first = found(net, changed, args)
    assert (first.node, first.kind, first.counterpart) == ("sub", "operands", "sub")
    assert first.reason == "it takes (y, tanh), in the original the order is (tanh, y)"


def test_a_dropped_cast(net, args):
    changed = traced(net)
    half = node(changed, "half")
    half.replace_all_uses_with(half.args[0])
    changed.graph.erase_node(half)
    first = found(net, changed, args)
    assert (first.node, first.kind, first.missing, first.symptom) == ("mul", "missing", "half", "dtype")
    assert first.difference.message == "dtype is float32, not float16"


def test_a_wrong_dim(net, args):
    changed = traced(net)
    softmax = node(changed, "softmax")
    softmax.kwargs = {"dim": 0}
    first = found(net, changed, args)
    assert (first.node, first.kind) == ("softmax", "argument")
    assert first.reason == "dim is 0, in the original -1"


def test_a_wrong_dim_that_changes_the_shape(net, args):
    changed = traced(net)
    total = node(changed, "sum_1")
    total.kwargs = {"dim": 1}
    first = found(net, changed, args)
    assert (first.node, first.symptom, first.difference.message) == ("sum_1", "shape", "shape is [4], not [6]")


@pytest.mark.parametrize("how", ["method", "operator"])
def test_a_change_in_place_of_what_is_used_later(net, args, how):
    changed = traced(net)
    sub = node(changed, "sub")
    if how == "method":
        sub.op, sub.target = "call_method", "sub_"
    else:
        sub.target = operator.isub
    first = found(net, changed, args)
    assert (first.node, first.kind, first.seen_at) == ("sub", "in-place", "add_1")
    assert first.reason == "it changes tanh in place, which add_1 takes afterwards"


def test_a_change_in_place_through_a_view(args):
    def original(x, _y):
        part = x.abs()[:, 1:]
        return torch.mul(part, 2), part

    def transformed(x, _y):
        whole = x.abs()
        part = whole[:, 1:]
        whole.mul_(2)
        return part, part

    verdict = verify(original, transformed, args)
    assert (verdict.first.node, verdict.first.kind) == ("mul_", "in-place")


def test_a_change_in_place_that_is_gone(args):
    def original(x, y):
        z = x + 1
        z.add_(y)
        return z * 2

    def transformed(x, y):
        z = x + 1
        z.add(y)
        return z * 2

    first = verify(original, fx.symbolic_trace(transformed), args).first
    assert (first.node, first.kind) == ("add_1", "in-place")
    assert "does not change add in place as the original does" in first.reason


def test_an_input_changed_in_place(args):
    before = [each.clone() for each in args]
    first = verify(torch.add, lambda x, y: x.add_(y), args).first
    assert (first.node, first.kind, first.seen_at) == ("add_", "in-place", "output")
    assert all(map(torch.equal, args, before))


def test_a_stale_parameter_of_a_module(net, args):
    changed = traced(net)
    with torch.no_grad():
        net.linear.weight[2, 3] += 1
    first = found(net, changed, args)
    assert (first.node, first.kind, first.module) == ("linear", "parameter", "linear")
    assert first.reason == "linear.weight is not the original's: 1 of 36 elements differ"


@pytest.mark.parametrize("name", ["scale", "shift"])
def test_a_stale_parameter_or_buffer_of_the_root(net, args, name):
    changed = traced(net)
    with torch.no_grad():
        getattr(net, name)[1] += 1
    first = found(net, changed, args)
    assert (first.node, first.kind, first.sizes.worst) == (name, "parameter", (1,))


def test_dropout_in_the_wrong_mode(net, args):
    changed = traced(net)
    changed.drop.train()
    first = found(net, changed, args)
    assert (first.node, first.kind) == ("drop", "mode")
    assert first.reason == "drop is in training mode, in the original in evaluation mode"


def test_dropout_whose_mode_a_trace_has_fixed(net, args):
    changed = traced(net.train())
    first = found(net.eval(), changed, args, training=False)
    assert (first.node, first.kind) == ("dropout", "mode")
    assert first.reason == "training is True, in the original False"


def test_a_node_put_between(net, args):
    changed = traced(net)
    tanh = node(changed, "tanh")
    with changed.graph.inserting_after(tanh):
        new = changed.graph.call_function(torch.mul, (tanh, 1.001))
    tanh.replace_all_uses_with(new, lambda user: user is not new)
    assert found(net, changed, args).node == new.name


def test_another_target(net, args):
    changed = traced(net)
    node(changed, "tanh").target = torch.sigmoid
    first = found(net, changed, args)
    assert (first.node, first.reason) == ("tanh", "it calls torch.sigmoid, where the original calls torch.tanh")


def test_an_attribute_of_a_module(net, args):
    changed = traced(net)
    changed.norm.eps = 0.5
    first = found(net, changed, args)
    assert (first.node, first.kind, first.reason) == ("norm", "attribute", "norm.eps is 0.5, in the original 1e-05")


def test_running_statistics_that_are_not_updated(net, args):
    changed = traced(net.train())
    changed.norm.momentum = 0.0
    before = copy.deepcopy(net.state_dict())
    first = found(net, changed, args)
    assert (first.node, first.kind) == ("norm", "attribute")
    assert all(torch.equal(value, before[name]) for name, value in net.state_dict().items())


def test_a_node_that_fails(net, args):
    changed = traced(net)
    node(changed, "softmax").kwargs = {"dim": 7}
    first = found(net, changed, args)
    assert (first.node, first.symptom, first.kind) == ("softmax", "error", "argument")
    assert "Dimension out of range" in first.difference.message


def test_a_wrong_result_is_found_before_the_failure_that_it_leads_to(args):
    first = verify(lambda x, y: x.sum(0) + y.sum(0), lambda x, y: x.sum(1) + y.sum(0), args).first
    assert (first.node, first.symptom) == ("sum_1", "shape")


def test_the_wrong_node_returned(args):
    def original(x, y):
        return torch.sin(x), torch.cos(y)

    first = verify(original, lambda x, y: original(x, y)[::-1], args).first
    assert (first.node, first.kind) == ("output", "operands")


def test_two_faults_are_both_told_the_first_one_first(net, args):
    changed = traced(net)
    node(changed, "tanh").target = torch.sin
    node(changed, "softmax").kwargs = {"dim": 0}
    changed.recompile()
    verdict = verify(net, changed, args)
    assert verdict.first.node == "tanh"
    assert [each.node for each in verdict.others] == ["softmax"]


class Outer(nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, x, y):
        return self.inner(x * 2, y)["sum"] + 1


def test_a_fault_inside_a_graph_that_is_called(net, args):
    inner = traced(net)
    node(inner, "tanh").target = torch.sin
    inner.recompile()

    class Whole(fx.Tracer):
        def is_leaf_module(self, *_):
            return True

    outer = Outer(inner)
    changed = fx.GraphModule(outer, Whole().trace(outer))
    first = found(Outer(net), changed, args)
    assert (first.within, first.node) == ("inner", "tanh")


def test_a_fault_in_a_module_that_the_original_calls_whole(net, args):
    class Into(Tracer):
        def is_leaf_module(self, module, name):
            del name
            return not isinstance(module, Net)

    original = fx.GraphModule(Outer(net), fx.Tracer().trace(Outer(net)))
    changed = fx.GraphModule(Outer(net), Into().trace(Outer(net)))
    assert verify(original, changed, args).ok
    softmax = node(changed, "softmax")
    softmax.kwargs = {"dim": 0}
    first = found(original, changed, args)
    assert (first.node, first.reason) == ("softmax", "dim is 0, in the original -1")


class Folded(nn.Module):
    def __init__(self):
        super().__init__()
        self.one = nn.Sequential(nn.Conv2d(2, 4, 3), nn.BatchNorm2d(4), nn.ReLU())
        self.two = nn.Sequential(nn.Conv2d(4, 4, 3), nn.BatchNorm2d(4), nn.ReLU())
        self.three = nn.Sequential(nn.Conv2d(4, 2, 3), nn.BatchNorm2d(2))

    def forward(self, x):
        y = self.two(self.one(x))
        return self.three(y * 2) + 1


def folded():
    torch.manual_seed(5)
    model = Folded().eval()
    for each in model.modules():
        if isinstance(each, nn.BatchNorm2d):
            each.running_var.uniform_(0.3, 3.0)
    return model, fuse(model), torch.randn(2, 2, 9, 9)


def test_what_a_pass_has_folded_is_no_fault():
    model, fused, x = folded()
    assert verify(model, fused, x).ok
    node(fused, "mul").args = (node(fused, "mul").args[0], 3)
    fused.recompile()
    verdict = verify(model, fused, x)
    assert (verdict.first.node, verdict.others, verdict.notes) == ("mul", (), ())


def test_a_wrong_weight_of_what_was_folded():
    model, fused, x = folded()
    with torch.no_grad():
        fused.get_submodule("two.0").weight[1] += 0.1
    verdict = verify(model, fused, x)
    first = verdict.first
    assert (first.node, first.counterpart, verdict.others) == ("two_0", "two_1", ())
    assert first.reason == "it stands for two_1 of the original, and makes another value"
    assert (first.sizes.count, first.sizes.worst[1]) == (first.sizes.total // 4, 1)


def test_names_that_a_new_trace_has_shifted(args):
    """What is `add` in one is `add_1` in the other."""

    def original(x, y):
        a = x + y
        b = a * 2
        return torch.relu(b + y) + a

    def transformed(x, y):
        unused = y + 1
        a = x + y
        b = a * 2
        return torch.relu(b + y) - a, unused

    verdict = verify(original, lambda x, y: transformed(x, y)[0], args)
    assert (verdict.first.node, verdict.others) == ("sub", ())
    assert verdict.first.counterpart == "add_2"
