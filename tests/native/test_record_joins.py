"""Which op made which node, and where, wherever graphs are made and run in other ways than forward, then backward.

What is expected comes from anomaly mode: its tracebacks are compared with the recording's frames, frame by frame.
"""

import gc
import threading
from contextlib import contextmanager

import pytest
import torch
from forward_oracle import graph, made_by_forward, name_of, stack
from torch.utils.checkpoint import checkpoint

import pyharness
from pyharness import ops

pytestmark = pytest.mark.rotated_tests(turns=2)


@contextmanager
def anomaly():
    with torch.autograd.set_detect_anomaly(True, check_nan=False):
        yield


def frames(event):
    return [(call.file, call.line, call.function.rpartition(".")[2]) for call in event.stack]


def agree(trace, nodes):
    """Each of ``nodes`` was recorded whenever it ran, with the frames that anomaly mode saw make it."""
    assert nodes
    for node in nodes:
        runs = [event for event in trace.nodes if (event.sequence, event.name) == (node._sequence_nr(), node.name())]
        assert runs, node
        assert stack(node) in [frames(event) for event in runs]
        assert len({event.forward for event in runs}) == len({tuple(frames(event)) for event in runs})


def parents(trace, event):
    while event.parent is not None:
        event = trace.events[event.parent]
        yield event


class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, grad):
        return 3 * ctx.saved_tensors[0] ** 2 * grad


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = torch.nn.Linear(4, 4)

    def forward(self, x):
        return torch.tanh(self.inner(x)) * x


def test_nodes_that_a_backward_made_name_the_line_that_ran_it():
    x = torch.ones(3, requires_grad=True)
    with pyharness.record() as recording, anomaly():
        y = Cube.apply(x * x).sum()
        (slope,) = torch.autograd.grad(y, x, create_graph=True)
        first, both = set(graph(y)), made_by_forward(slope)
        slope.sum().backward()
    trace = recording.trace
    second = [node for node in both if node not in first]
    assert len(second) > 3
    agree(trace, second)
    assert [task.call for task in trace.graph_tasks] == ["grad", "backward"]
    made = [event for event in trace.nodes if event.sequence in {node._sequence_nr() for node in second}]
    inside = {each.name for event in made for each in parents(trace, trace.events[event.forward])}
    assert {"CubeBackward", "MulBackward0"} <= inside


@pytest.mark.parametrize("reentrant", [True, False])
def test_a_checkpointed_block_names_the_lines_that_it_ran_first_or_again(reentrant):
    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.blocks = torch.nn.ModuleList([Block(), Block()])

        def forward(self, x):
            for block in self.blocks:
                x = checkpoint(block, x, use_reentrant=reentrant)
            return x.sum()

    x = torch.ones(2, 4, requires_grad=True)
    with pyharness.record() as recording, anomaly():
        loss = Model()(x)
        nodes = made_by_forward(loss)
        loss.backward()
    trace = recording.trace
    agree(trace, nodes)
    tanh = [event for event in trace.nodes if event.name == "TanhBackward0"]
    assert [event.module for event in tanh] == ["blocks.1", "blocks.0"]
    assert {event.reentrant for event in tanh} == {2 if reentrant else 1}
    assert all(trace.events[event.forward].name == "aten::tanh" for event in tanh)
    assert all(event.origin.function == name_of(Block.forward) for event in tanh)


def test_functions_in_python_and_in_cpp_name_the_op_that_made_them():
    x = torch.ones(2, 4, requires_grad=True)
    with pyharness.record() as recording, anomaly():
        loss = (Cube.apply(x) * ops.rms_norm(x, torch.ones(4))).sum()
        nodes = made_by_forward(loss)
        loss.backward()
    trace = recording.trace
    agree(trace, nodes)
    made = {event.name: trace.events[event.forward].name for event in trace.nodes if event.forward is not None}
    assert made["CubeBackward"] == "Cube"
    assert made["torch::autograd::CppNode<pyharness::ops::RmsNorm>"] == "pyharness::rms_norm"
    leaf = [event for event in trace.nodes if event.name == "torch::autograd::AccumulateGrad"]
    assert [(event.sequence, event.forward, event.stack) for event in leaf] == [(None, None, ())]


def test_what_a_hook_runs_is_inside_of_its_node():
    def halve(grad):
        return grad / 2

    x = torch.ones(3, requires_grad=True)
    with pyharness.record(inner_ops=True) as recording:
        y = x.exp()
        y.register_hook(halve)
        y.grad_fn.register_prehook(lambda grads: (grads[0].neg(),))
        y.sum().backward()
    trace = recording.trace
    for name, function in {"aten::div": "halve", "aten::neg": "<lambda>"}.items():
        op = next(event for event in trace.ops if event.name == name)
        assert trace.events[op.parent].name == "ExpBackward0"
        assert op.stack[0].function.endswith(function)
        assert op.stack[1].function == "_engine_run_backward"


def test_each_pass_over_a_retained_graph_is_recorded():
    x = torch.ones(3, requires_grad=True)
    with pyharness.record() as recording, anomaly():
        loss = (x.exp() * x).sum()
        for _ in range(3):
            loss.backward(retain_graph=True)
    trace = recording.trace
    agree(trace, made_by_forward(loss))
    runs = [event for event in trace.nodes if event.name == "ExpBackward0"]
    assert len({event.graph_task for event in runs}) == len(trace.graph_tasks) == 3
    assert len({event.forward for event in runs}) == 1


def test_after_an_error_in_forward_nodes_still_name_their_own_ops():
    x = torch.ones(3, requires_grad=True)
    with pyharness.record() as recording, anomaly():
        with pytest.raises(RuntimeError, match="size of tensor"):
            x.exp() + torch.ones(2)
        loss = x.sin().sum()
        loss.backward()
    trace = recording.trace
    agree(trace, made_by_forward(loss))
    assert [event.name for event in trace.ops if event.name == "aten::add"] == ["aten::add"]
    assert [event.depth for event in trace.ops if event.name == "aten::sin"] == [0]


@pytest.mark.parametrize("where", ["node", "prehook", "hook", "tensor hook"])
def test_after_an_error_in_backward_nothing_is_left_open(where):
    class Fails(torch.autograd.Function):
        @staticmethod
        def forward(_ctx, x):
            return x.clone()

        @staticmethod
        def backward(_ctx, _grad):
            return fail()

    def fail(*_values):
        raise ValueError("on purpose")

    x = torch.ones(3, requires_grad=True)
    with pyharness.record() as recording:
        y = Fails.apply(x) if where == "node" else x.exp()
        if where == "tensor hook":
            y.register_hook(fail)
        elif where == "prehook":
            y.grad_fn.register_prehook(fail)
        elif where == "hook":
            y.grad_fn.register_hook(fail)
        with pytest.raises(ValueError, match="on purpose"):
            y.sum().backward()
        with anomaly():
            loss = x.sin().sum()
            loss.backward()
    trace = recording.trace
    agree(trace, made_by_forward(loss))
    failed = [event for event in trace.nodes if event.name in {"FailsBackward", "ExpBackward0"}]
    assert len(failed) == 1
    assert {event.depth for event in trace.nodes} == {0}
    assert {event.reentrant for event in trace.nodes} == {1}
    first, second = trace.graph_tasks
    assert (first.call, second.call, first.nodes, second.nodes) == ("backward", "backward", 2, 3)


def test_generators_are_callers_too():
    def squares(x):
        for power in (2, 3):
            yield x**power
            yield (x + power).exp()

    def delegated(x):
        yield from squares(x)

    x = torch.ones(3, requires_grad=True)
    with pyharness.record() as recording, anomaly():
        left, right = delegated(x), squares(x)
        loss = sum(value.sum() for pair in zip(left, right, strict=True) for value in pair)
        nodes = made_by_forward(loss)
        loss.backward()
    agree(recording.trace, nodes)


def test_a_graph_that_another_thread_made_is_joined_with_that_thread():
    """Sequence numbers begin anew in each thread: alone they would name the wrong op."""
    x = torch.ones(3, requires_grad=True)
    losses = {}

    def forward(name, function):
        for _ in range(5):
            losses[name] = function(x).sum()

    with pyharness.record() as recording, anomaly():
        for name, function in (("sin", torch.sin), ("exp", torch.exp)):
            thread = threading.Thread(target=forward, args=(name, function))
            thread.start()
            thread.join()
        nodes = {name: made_by_forward(loss) for name, loss in losses.items()}
        for name in ("exp", "sin"):
            losses[name].backward()
    trace = recording.trace
    numbers = {name: {node._sequence_nr() for node in made} for name, made in nodes.items()}
    assert numbers["sin"] == numbers["exp"]
    for event in trace.nodes:
        if event.name in {"SinBackward0", "ExpBackward0"}:
            op = trace.events[event.forward]
            assert op.name == f"aten::{event.name[:3].lower()}"
            assert op.thread != event.thread
            assert frames(event) == stack(nodes[event.name[:3].lower()][-1])


def test_nodes_that_nobody_saw_being_made_are_of_no_op():
    x = torch.ones(3, requires_grad=True)
    with pyharness.record(forward=False) as nodes_only:
        x.exp().sum().backward()  # from here on this thread is known
        before = x.sin()
        with pyharness.record() as recording:
            (x.cos().sum() + before.sum()).backward()
    made = {event.name: event for event in recording.trace.nodes}
    assert (made["SinBackward0"].forward, made["SinBackward0"].stack) == (None, ())
    assert recording.trace.events[made["CosBackward0"].forward].name == "aten::cos"
    assert not any(event.approximate for event in recording.trace.nodes)
    assert {event.forward for event in nodes_only.trace.nodes} == {None}


def test_modules_within_modules_and_within_themselves():
    class Recursive(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = torch.nn.Linear(4, 4)
            self.other = Block()

        def forward(self, x, depth=2):
            x = self.linear(x) * x
            if depth:
                x = self(x, depth - 1)
            return self.other(x)

    model = Recursive()
    with pyharness.record() as recording, anomaly():
        loss = model(torch.ones(2, 4)).sum()
        nodes = made_by_forward(loss)
        loss.backward()
    trace = recording.trace
    agree(trace, nodes)
    assert {event.module for event in trace.nodes if event.name == "AddmmBackward0"} == {"linear", "other.inner"}
    assert {event.module for event in trace.nodes if event.name == "TanhBackward0"} == {"other"}


def test_code_that_has_gone_by_the_end_is_named_all_the_same():
    """Each function and its code die at once, so that the next lies at the same address."""
    x = torch.ones(3, requires_grad=True)
    addresses = set()

    def run(number):
        space = {}
        exec(compile("\n" * number + "def gone(x):\n return x.exp()", f"<gone {number}>", "exec"), space)  # noqa: S102
        addresses.add(id(space["gone"].__code__))
        space["gone"](x).sum().backward()

    with pyharness.record() as recording:
        for number in range(200):
            run(number)
            gc.collect(0)
    made = [event for event in recording.trace.nodes if event.name == "ExpBackward0"]
    expected = [(f"<gone {number}>", number + 2) for number in range(200)]
    assert [(event.stack[0].file, event.stack[0].line) for event in made] == expected
    assert len(addresses) == 200  # kept alive for as long as the recording names them


def test_the_dead_are_let_go_with_the_recording():
    import weakref

    def run():
        space = {}
        exec("def gone(x): return x.exp()", space)  # noqa: S102
        space["gone"](torch.ones(3))
        module = torch.nn.Linear(2, 2)
        module(torch.ones(2))
        return weakref.ref(space["gone"].__code__), weakref.ref(module)

    with pyharness.record() as recording:
        code, module = run()
        gc.collect()
        assert code() is not None
        assert module() is not None
    gc.collect()
    assert code() is None
    assert module() is None
    assert any(event.stack and event.stack[0].function == "gone" for event in recording.trace.ops)


def test_modules_too_deep_for_their_frames_keep_their_paths():
    """Of 300 frames the innermost are kept; which module the others are in is known from other ops."""

    class Around(torch.nn.Module):
        def __init__(self, inner):
            super().__init__()
            self.inner = inner

        def forward(self, x):
            return self.inner(x * 2)

    model, depth = torch.nn.Tanh(), 100
    for _ in range(depth):
        model = Around(model)
    with pyharness.record() as recording, anomaly():
        loss = model(torch.ones(2, requires_grad=True)).sum()
        (tanh,) = (node for node in made_by_forward(loss) if node.name() == "TanhBackward0")
        loss.backward()
    event = next(event for event in recording.trace.nodes if event.name == "TanhBackward0")
    assert len(event.stack) < 3 * depth
    assert frames(event) == stack(tanh)[: len(event.stack)]
    assert event.module == ".".join(["inner"] * depth)
    products = [event.module for event in recording.trace.nodes if event.name == "MulBackward0"]
    assert products == [".".join(["inner"] * level) for level in reversed(range(depth))]


def test_forward_without_a_graph_is_recorded_too():
    x = torch.ones(3, requires_grad=True)
    with pyharness.record() as recording:
        Cube.apply(x).sum().backward()
        with torch.no_grad():
            x.sin()
        with torch.inference_mode():
            x.cos()
    trace = recording.trace
    (power,) = (event for event in trace.ops if event.name == "aten::pow" and event.graph_task is None)
    assert trace.events[power.parent].name == "Cube"
    assert power.origin.function == name_of(Cube.forward)
    assert [event.name for event in trace.ops if event.name in {"aten::sin", "aten::cos"}] == ["aten::sin", "aten::cos"]
