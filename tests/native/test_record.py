"""``pyharness.record()``: what ran, inside of what, called from where, and which op made which node."""

import inspect
import threading

import pytest
import torch

import pyharness
from pyharness.model.errors import HarnessError
from pyharness.native.recording import Recording, record


def line_of(function, text):
    """Number of the line of ``function`` that ends with ``text``."""
    lines, first = inspect.getsourcelines(function)
    (found,) = [number for number, line in enumerate(lines, first) if line.rstrip().endswith(text)]
    return found


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = torch.nn.Linear(4, 4)

    def forward(self, x):
        return self.inner(x) * x


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = torch.nn.Sequential(Block(), Block())

    def forward(self, x):
        return self.blocks(x).sum()


def run_model(model=None):
    model = model or Model()
    loss = model(torch.ones(2, 4))
    loss.backward()


def names(events):
    """Of those that nothing else called."""
    return [event.name for event in events if event.depth == 0]


def test_ops_and_nodes_are_recorded_with_what_they_run_in():
    x = torch.ones(3, requires_grad=True)
    with pyharness.record() as recording:
        (x * 2).relu().sum().backward()
    trace = recording.trace
    assert recording.count == len(trace.events) + len(trace.graph_tasks)
    assert trace.lost == 0
    assert names(trace.ops) == ["aten::mul", "aten::relu", "aten::sum", "aten::ones_like"]
    assert names(trace.nodes) == ["SumBackward0", "ReluBackward0", "MulBackward0", "torch::autograd::AccumulateGrad"]
    inner = next(event for event in trace.ops if event.name == "aten::clamp_min")
    assert trace.events[inner.parent].name == "aten::relu"
    for event in trace.events:
        assert event.duration >= 0
        if event.parent is not None:
            outer = trace.events[event.parent]
            assert outer.start <= event.start
            assert event.end <= outer.end
            assert event.depth == outer.depth + 1


def test_each_node_names_the_op_and_the_line_that_made_it():
    x = torch.ones(3, requires_grad=True)

    def forward():
        a = x * 2  # the product
        return a.exp()

    with record() as recording:
        y = forward().sum()
        y.backward()
    trace = recording.trace
    made_by = {node.name: trace.events[node.forward].name for node in trace.nodes if node.forward is not None}
    assert made_by == {"MulBackward0": "aten::mul", "ExpBackward0": "aten::exp", "SumBackward0": "aten::sum"}
    product = next(node for node in trace.nodes if node.name == "MulBackward0")
    assert product.origin.file == __file__
    assert product.origin.line == line_of(test_each_node_names_the_op_and_the_line_that_made_it, "# the product")
    assert product.origin.function.endswith("forward")


def test_modules_are_named_by_their_path():
    with record() as recording:
        run_model()
    by_name = {}
    for event in recording.trace.events:
        if event.name in {"aten::linear", "aten::mul", "aten::sum"} and event.depth == 0:
            by_name.setdefault(event.name, []).append(event.module)
    assert by_name == {
        "aten::linear": ["blocks.0.inner", "blocks.1.inner"],
        "aten::mul": ["blocks.0", "blocks.1"],
        "aten::sum": [""],
    }
    nodes = [node.module for node in recording.trace.nodes if node.name == "MulBackward0"]
    assert nodes == ["blocks.1", "blocks.0"]


def test_a_generated_line_names_its_node():
    traced = torch.fx.symbolic_trace(Model())
    with record() as recording:
        run_model(traced)
    product = [event for event in recording.trace.ops if event.name == "aten::mul"]
    assert [event.origin.node for event in product] == ["mul", "mul_1"]
    assert [event.module for event in product] == ["blocks.0", "blocks.1"]


def test_runs_of_the_engine_say_who_started_them():
    x = torch.ones(3, requires_grad=True)
    with record() as recording:
        (x * x).sum().backward()
        torch.autograd.grad((x * 3).sum(), x)  # the second
    first, second = recording.trace.graph_tasks
    assert (first.call, second.call) == ("backward", "grad")
    assert second.origin.line == line_of(test_runs_of_the_engine_say_who_started_them, "# the second")
    assert {node.graph_task for node in recording.trace.nodes} == {first.number, second.number}
    assert first.nodes + second.nodes == len(recording.trace.nodes)
    assert first.parent is None


def test_a_backward_in_a_node_is_one_deeper():
    class Inside(torch.autograd.Function):
        @staticmethod
        def forward(_ctx, x):
            return x.clone()

        @staticmethod
        def backward(_ctx, grad):
            with torch.enable_grad():
                y = torch.ones(2, requires_grad=True)
                (y * 5).sum().backward()
            return grad

    x = torch.ones(3, requires_grad=True)
    with record() as recording:
        Inside.apply(x).sum().backward()
    outer, inner = sorted(recording.trace.graph_tasks, key=lambda task: task.start)
    assert inner.parent == outer.number
    depth = {node.name: node.reentrant for node in recording.trace.nodes}
    assert depth["InsideBackward"] == 1
    assert depth["MulBackward0"] == 2
    product = next(node for node in recording.trace.nodes if node.name == "MulBackward0")
    assert recording.trace.events[product.forward].name == "aten::mul"


def test_shapes_and_memory_on_request():
    x = torch.ones(2, 3)
    with record(shapes=True, memory=True) as recording:
        y = x.t()
        y.to(torch.float64).add(1.0)
    add = next(event for event in recording.trace.ops if event.name == "aten::add")
    assert [str(info) for info in add.inputs] == ["float64[3, 2]", "float64[]"]
    assert add.outputs[0].device == "cpu"
    assert add.memory == 2 * 3 * 8
    assert next(event for event in recording.trace.ops if event.name == "aten::t").memory == 0
    with record() as recording:
        x.t()
    assert recording.trace.events[0].inputs is None
    assert recording.trace.events[0].memory is None


def test_what_does_not_fit_is_lost_and_counted():
    x = torch.ones(1)
    with record(capacity=8) as recording:
        for _ in range(20):
            x.neg()
    assert recording.count == 20
    assert len(recording.trace.events) == 8
    assert recording.trace.lost == 12


def test_every_thread_is_recorded_and_named():
    def work():
        torch.ones(2).neg()

    with record() as recording:
        thread = threading.Thread(target=work, name="a worker")
        thread.start()
        number = thread.native_id
        thread.join()
    assert {event.thread for event in recording.trace.ops if event.name == "aten::neg"} == {number}
    assert number in recording.trace.threads


def test_recordings_may_overlap():
    x = torch.ones(2)
    with record() as outer:
        x.neg()
        with record(shapes=True) as inner:
            x.neg()
        x.exp()
    assert names(inner.trace.events) == ["aten::neg"]
    assert names(outer.trace.events) == ["aten::neg", "aten::neg", "aten::exp"]


def test_a_body_that_raises_is_recorded_all_the_same():
    recording = record()

    def body():
        torch.ones(2).neg()
        return 1 / 0

    with pytest.raises(ZeroDivisionError), recording:
        body()
    assert names(recording.trace.ops)[-1] == "aten::neg"


def test_nothing_is_recorded_afterwards():
    with record() as recording:
        torch.ones(2).neg()
    before = recording.count
    torch.ones(2).neg()
    run_model()
    assert recording.count == before
    with record() as second:
        torch.ones(2).abs()
    assert "aten::neg" not in names(second.trace.events)


def test_without_interposing_the_same_is_recorded():
    def traced(*, interpose):
        options = {"forward": True, "backward": True, "tensors": False, "inner_ops": False, "capacity": 1 << 12}
        with Recording({**options, "interpose": interpose}, memory=False) as recording:
            run_model()
        return [(e.kind, e.name, e.depth, e.module, e.forward, e.reentrant) for e in recording.trace.events]

    run_model()
    assert traced(interpose=False) == traced(interpose=True)


def test_inner_ops_are_recorded_on_request():
    x = torch.ones(3, requires_grad=True)
    with record(inner_ops=True) as recording:
        x.exp().sum().backward()
    inner = next(event for event in recording.trace.ops if event.name == "aten::mul")
    assert recording.trace.events[inner.parent].name == "ExpBackward0"
    assert inner.reentrant == 1


def test_what_cannot_be_done_is_said():
    with pytest.raises(HarnessError, match="holds nothing"):
        record(capacity=0)
    with pytest.raises(HarnessError, match="more than the recorder can number"):
        record(capacity=(1 << 28) + 1)
    recording = record()
    with pytest.raises(HarnessError, match="before the recording has ended"):
        _ = recording.trace
    with recording:
        pass
    assert recording.trace.events == ()
    with pytest.raises(HarnessError, match="has begun already"):
        recording.__enter__()


def test_a_nested_tensor_has_no_one_shape(capfd):
    parts = [torch.ones(2), torch.ones(3)]
    with pyharness.record(shapes=True, memory=True) as recording:
        torch.nested.nested_tensor(parts) * 2
        torch.nested.nested_tensor(parts, layout=torch.jagged).sin()
    assert {"aten::mul", "aten::sin"} <= {event.name for event in recording.trace.events}
    assert "RecordFunction" not in capfd.readouterr().err


def test_tensors_of_symbolic_sizes_have_neither_sizes_nor_bytes(capfd):
    doubled = torch.compile(lambda x: x * 2, backend="eager", dynamic=True)
    with pyharness.record(shapes=True, memory=True) as recording:
        doubled(torch.ones(3))
    assert "RecordFunction" not in capfd.readouterr().err
    products = [event for event in recording.trace.ops if event.name == "aten::mul"]
    assert {str(event.inputs[0]) for event in products} == {"float32[3]", "float32[?]"}
