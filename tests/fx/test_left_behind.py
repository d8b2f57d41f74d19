"""A trace leaves no symbolic value in the user's modules, and says what no graph can do."""

from collections import deque

import pytest
import torch
from torch import nn

from kit import marks
from pyharness.fx import CannotTraceError, inline, trace


class Counter(nn.Module):
    n: torch.Tensor

    def __init__(self):
        super().__init__()
        self.register_buffer("n", torch.zeros(()))


class Assigns(Counter):
    def forward(self, x):
        self.n = self.n + 1  # @assigns
        return x + self.n


class Registers(Counter):
    def forward(self, x):
        self.register_buffer("n", x.mean())  # @registers
        return x + self.n


class AssignsData(Counter):
    def forward(self, x):
        self.n.data += 1  # @data
        return x + self.n


class InPlace(Counter):
    def forward(self, x):
        self.n.copy_(self.n + 1)
        return x + self.n


class Net(nn.Module):
    def __init__(self, kind):
        super().__init__()
        self.part = kind()

    def forward(self, x):
        return self.part(self.part(x))


def inlined(net):
    return inline(trace(net, leaves="part"), "part")


def traced(net):
    return trace(net, inline="part")


@pytest.mark.parametrize("how", [inlined, traced])
@pytest.mark.parametrize(
    ("kind", "mark", "target"),
    [(Assigns, "assigns", "self.n"), (Registers, "registers", "self.n"), (AssignsData, "data", "self.n.data")],
)
def test_a_buffer_that_is_assigned_is_an_error_and_stays(kind, mark, target, how):
    net = Net(kind)
    buffer = net.part.n
    with pytest.raises(CannotTraceError) as caught:
        how(net)
    line = marks.line_of(mark, __file__)
    assert str(caught.value) == (
        f"part ({kind.__name__}) cannot be traced at {__file__}:{line}: it assigns {target}, which a graph cannot.\n"
        "Change that tensor in place, with self.n.copy_(...), or keep it whole with leaves='part'."
    )
    assert net.part.n is buffer
    torch.testing.assert_close(net(torch.zeros(1)), Net(kind)(torch.zeros(1)))


def test_the_root_is_named_and_has_no_leaves():
    with pytest.raises(CannotTraceError) as caught:
        trace(Registers())
    assert "the root (Registers) cannot be traced at" in str(caught.value)
    assert "leaves" not in str(caught.value)


@pytest.mark.parametrize("how", [inlined, traced])
def test_a_buffer_that_is_changed_in_place_is_counted_by_the_graph(how):
    net = Net(InPlace)
    module = how(net)
    assert net.part.n == 0
    assert [module(torch.zeros(1)).item() for _ in range(2)] == [Net(InPlace)(torch.zeros(1)).item(), 7]


class Keeps(nn.Module):
    """What many models keep of their last call, in attributes that are no buffers."""

    def __init__(self):
        super().__init__()
        self.attention, self.mask = torch.ones(3), None
        self.seen, self.by_name, self.recent = [1], {"inner": {"a": 1}, "b": 2}, deque([4], maxlen=2)

    def forward(self, x):
        if self.mask is None:
            self.mask = torch.ones(1)
        self.attention = torch.softmax(x, -1)
        self.last = (x, [x])
        self.seen += [2, x]
        self.by_name["inner"]["a"] = x
        self.by_name |= {"b": [x], "c": x}
        self.recent.append(x)
        return self.attention * self.mask


class Fails(Keeps):
    def forward(self, x):
        raise ValueError(super().forward(x))


def test_what_a_forward_keeps_of_symbolic_values_is_put_back():
    net = Keeps()
    before = net.attention
    module = trace(net)
    torch.testing.assert_close(module(torch.ones(3)), torch.softmax(torch.ones(3), -1))
    assert_put_back(net, before)
    assert net.mask is not None  # a constant that the graph reads


def test_it_is_put_back_behind_an_error():
    net = Fails()
    before = net.attention
    with pytest.raises(ValueError, match="mul"):
        trace(net)
    assert_put_back(net, before)


def assert_put_back(net, attention):
    assert net.attention is attention
    assert not hasattr(net, "last")
    assert (net.seen, net.by_name, net.recent) == ([1], {"inner": {"a": 1}, "b": 2}, deque([4]))
