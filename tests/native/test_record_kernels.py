"""Recordings of what torch.compile's default backend makes: each call of a kernel is an event, with its nodes."""

import pytest
import torch
import torch._dynamo  # a program that compiles has imported it
from torch import nn

import pyharness
from kit import inductor
from pyharness.model.results import trace_file
from pyharness.report import perfetto, tables
from pyharness.report.page_data import page_data

pytestmark = pytest.mark.rotated_tests(turns=3, number=0)


class Gate(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(8, 8)

    def forward(self, x):
        return x + torch.sigmoid(self.linear(x)) * x.exp()


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.gates = nn.ModuleList(Gate() for _ in range(2))

    def forward(self, x):
        for gate in self.gates:
            x = gate(x)
        return x.softmax(-1)


@pytest.fixture(scope="module")
def trace(tmp_path_factory):
    folder = tmp_path_factory.mktemp("recorded")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TORCHINDUCTOR_CACHE_DIR", inductor.cache(folder / "torch"))
        patch.setenv("PYHARNESS_HOME", str(folder / "home"))
        torch._dynamo.reset()
        compiled, x = torch.compile(Net()), torch.randn(4, 8)
        with pyharness.record(shapes=True) as recording:
            compiled(x).square().sum().backward()
            first = recording.count
            compiled(x)
            assert recording.count > first
        before = dict(vars(torch._inductor.codecache.PyCodeCache.modules[-1]))
        assert not [name for name, each in before.items() if name.startswith("cpp_") and "partial" in repr(each)]
        yield recording.trace


def kernels_of(trace):
    return [event for event in trace.events if event.nodes]


def test_each_call_of_a_kernel_is_an_event_with_its_nodes_and_its_module(trace):
    forward = [event for event in kernels_of(trace) if not event.reentrant]
    assert all(event.name.startswith("cpp_fused_") for event in forward), [event.name for event in forward]
    assert len(forward) >= 4, "two runs of two kernels or more"
    assert {"sigmoid", "exp", "add"} <= set(forward[0].nodes)
    assert {event.module for event in forward} <= {"gates.0", "gates.1", ""}
    assert "gates.0" in {event.module for event in forward}
    assert all(event.duration > 0 for event in forward)
    assert all(str(info).startswith("float32[") for info in forward[0].inputs)


def test_kernels_of_backward_are_events_in_the_node_that_runs_them(trace):
    backward = [event for event in kernels_of(trace) if event.reentrant]
    assert backward
    outer = {trace.events[event.parent].name for event in backward if event.parent is not None}
    assert outer == {"CompiledFunctionBackward"}
    assert any("gates.1" in (event.module or "") for event in backward)


def test_ops_of_a_wrapper_are_no_kernels(trace):
    assert not [event for event in trace.events if "::" in event.name and event.nodes]


def test_every_view_names_them(trace):
    kernel = kernels_of(trace)[0]
    assert trace_file.load(trace_file.dump(trace)).events[kernel.number].nodes == kernel.nodes
    assert trace.to_json()["events"][kernel.number]["nodes"] == list(kernel.nodes)
    text = "\n".join(line.text for line in tables.lines(trace, tables.Manner(by=("kernel",))))
    assert "by compiled kernel" in text
    assert f"{kernel.name} " in text
    assert ", ".join(kernel.nodes) in text
    slices = [each for each in perfetto.trace_events(trace) if each.get("name") == kernel.name]
    assert slices[0]["args"]["nodes"] == ", ".join(kernel.nodes)
    assert [kernel.number, ", ".join(kernel.nodes)] in page_data(trace)["events"]["nodes"]
