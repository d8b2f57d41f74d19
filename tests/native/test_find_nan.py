"""find_nan names the first op or node, its line and its module, wherever the bad value is made."""

import json
import math

import nan_sources
import pytest
import torch
from forward_oracle import name_of
from nan_search import at, found, origin
from nan_sources import Blocks, Checkpointed, Logarithm, PythonRoot, Root, line_of

import pyharness
from pyharness.model.results.finding_text import finding_lines


def test_log_of_a_negative():
    x = torch.tensor([[1.0, 2.0], [3.0, -0.5]])
    finding = found(lambda: Blocks(Logarithm())(x))
    assert (finding.kind, finding.name, finding.made, finding.values) == ("op", "aten::log", True, ("nan",))
    assert origin(finding) == at("log")
    assert finding.module == "blocks.1.inner"
    (given,) = finding.inputs
    (output,) = finding.outputs
    assert (given.name, given.bad, given.statistics.minimum) == ("self", (), -1.0)
    assert (output.statistics.nan, output.statistics.first, output.info.shape) == (1, (1, 1), (2, 2))
    assert finding.stack[-1].language == "python"
    assert any("log" in frame.function for frame in finding.stack if frame.language == "native")
    text = "\n".join(line.text for line in finding_lines(finding))
    assert "aten::log" in text
    assert "module blocks.1.inner" in text
    assert json.loads(json.dumps(finding.to_json()))["origin"]["line"] == line_of("log")


def test_zero_times_infinity_in_backward_only():
    x = torch.tensor([1.0, 0.0], requires_grad=True)
    loss = None

    def run():
        nonlocal loss
        loss = Blocks(Root())(x).sum()
        loss.backward()

    finding = found(run, values=("nan",))
    assert torch.isfinite(loss)
    assert (finding.kind, finding.name, finding.made) == ("node", "SqrtBackward0", True)
    assert origin(finding) == at("root")
    assert finding.module == "blocks.1.inner"
    assert any(call.function == name_of(run) for call in finding.calls)
    natives = [frame.function for frame in finding.stack if frame.language == "native"]
    assert any("Engine::execute" in function for function in natives)
    assert finding.graph_task is not None


def test_overflow_in_bfloat16():
    finding = found(nan_sources.overflow)
    assert (finding.name, finding.values) == ("aten::add", ("inf",))
    assert origin(finding) == at("overflow")
    assert finding.outputs[0].statistics.positive_infinity == 31
    assert found(nan_sources.overflow, values=("nan",)) is None


_EMPTY = torch.arange(4.0, requires_grad=True)[torch.arange(4.0) > 10]


@pytest.mark.parametrize(
    "reduce",
    [
        torch.mean,
        torch.var,
        torch.median,
        lambda empty: torch.nn.functional.mse_loss(empty, empty),
        lambda empty: torch.nn.functional.l1_loss(empty, empty.detach()),
        lambda empty: torch.nn.functional.cross_entropy(empty[:, None], empty.long()),
        lambda empty: empty.double().reshape(3, 0).mean(1),
    ],
    ids=["mean", "var", "median", "mse_loss", "l1_loss", "cross_entropy", "double"],
)
def test_of_nothing_it_is_made(reduce):
    finding = found(lambda: reduce(_EMPTY))
    assert finding.made
    empty = [given for given in finding.inputs if 0 in given.info.shape]
    lines = [line.text for line in finding_lines(finding)]
    assert sum(line.endswith("  empty") for line in lines) == len(empty)


def test_in_a_worker_thread():
    errors = []
    finding = found(lambda: nan_sources.in_worker(errors))
    assert origin(finding) == at("worker")
    assert finding.thread_name == "worker"
    assert not errors


@pytest.mark.parametrize("reentrant", [True, False])
def test_in_a_checkpointed_block(reentrant):
    forward = found(lambda: Checkpointed(Logarithm(), reentrant=reentrant)(torch.tensor([-1.0], requires_grad=True)))
    assert (origin(forward), forward.module) == (at("log"), "part.blocks.1.inner")
    x = torch.tensor([1.0, 0.0], requires_grad=True)
    backward = found(lambda: Checkpointed(Root(), reentrant=reentrant)(x).sum().backward(), values=("nan",))
    assert (backward.kind, backward.name) == ("node", "SqrtBackward0")
    assert origin(backward) == at("root")
    assert backward.module.endswith("blocks.1.inner")


class Within(torch.autograd.Function):
    """Its backward runs another backward, of a function that does so too, ``depth`` times; the last is a root."""

    @staticmethod
    def forward(context, x, depth):
        context.save_for_backward(x)
        context.depth = depth
        return x.sqrt()

    @staticmethod
    def backward(context, gradient):
        (x,) = context.saved_tensors
        inner = x.detach().requires_grad_()
        with torch.enable_grad():
            y = Within.apply(inner, context.depth - 1) if context.depth else inner.sqrt()
        (found,) = torch.autograd.grad(y, inner, gradient)
        return found, None


def test_in_a_node_that_runs_inside_of_many():
    """None of those around it may take its place among the nodes that are looked at."""
    for _ in range(5):
        x = torch.tensor([0.0], requires_grad=True)
        finding = found(lambda x=x: (Within.apply(x, 30) * 0).sum().backward(), values=("nan",))
        assert (finding.kind, finding.name) == ("node", "SqrtBackward0")


def test_in_a_function_in_python():
    x = torch.tensor([1.0, 0.0], requires_grad=True)
    finding = found(lambda: PythonRoot.apply(x).sum().backward(), values=("nan",))
    assert (finding.kind, finding.name, finding.node) == ("op", "aten::div", "PythonRootBackward")
    assert origin(finding) == at("python-backward")


def test_in_a_function_in_cpp():
    import pyharness.ops  # noqa: F401

    x = torch.tensor([1.0, 0.0], requires_grad=True)
    finding = found(lambda: torch.ops.pyharness.faulty_nan_backward(x).sum().backward())
    assert finding.kind == "node"
    assert "FaultyNanBackward" in finding.name
    assert finding.forward
    assert finding.forward[-1].file == __file__ or finding.origin.file == __file__


def test_in_place():
    finding = found(nan_sources.in_place)
    assert (finding.name, finding.made) == ("aten::sqrt_", True)
    assert origin(finding) == at("in-place")


def test_what_was_in_an_out_argument_does_not_matter():
    finding = found(nan_sources.out_argument)
    assert (finding.name, finding.made, origin(finding)) == ("aten::log", True, at("out"))


def test_lists_of_tensors_that_are_written():
    finding = found(nan_sources.for_each)
    assert (finding.name, finding.within, finding.made) == ("aten::sqrt_", ("aten::_foreach_sqrt_",), True)
    assert origin(finding) == at("for-each")


def test_the_innermost_op_is_named_with_those_around_it():
    finding = found(nan_sources.nested)
    assert (finding.name, finding.within) == ("aten::addmm", ("aten::linear",)) or (
        finding.within and finding.within[-1] == "aten::linear"
    )
    assert origin(finding) == at("nested")


@pytest.mark.parametrize("backward", [False, True])
def test_compiled_with_aot_eager(backward):
    torch._dynamo.reset()
    bad = torch.compile(Blocks(Root() if backward else Logarithm()), backend="aot_eager")
    x = torch.tensor([1.0, 0.0], requires_grad=True)
    bad(torch.ones(2, requires_grad=True)).sum().backward()
    finding = found(lambda: bad(x if backward else x - 1).sum().backward(), values=("nan",))
    assert (finding.kind, finding.name) == ("op", "aten::div" if backward else "aten::log")
    assert finding.origin.file.startswith("<eval_with_key>")
    assert finding.origin.node == ("div" if backward else "log")
    assert (finding.made_from.file, finding.made_from.line) == at("root" if backward else "log")
    assert "blocks.1.inner" in finding.module
    assert (finding.node == "CompiledFunctionBackward") == backward


@pytest.mark.parametrize("transform", [torch.func.grad, torch.func.jacrev, torch.func.jacfwd])
def test_an_infinity_that_was_given_is_not_made_inside_of_a_transform(transform):
    def attention(x):
        mask = torch.triu(torch.full((3, 3), -math.inf), 1)
        return (torch.softmax(x @ x.T + mask, -1) @ x).sum()

    with pyharness.find_nan() as search:
        transform(attention)(torch.randn(3, 4))
        torch.func.vmap(torch.func.grad(attention))(torch.randn(2, 3, 4))
        nested = torch.nested.nested_tensor([torch.tensor([1.0, math.inf])], layout=torch.jagged)
        (nested * 2).sum()
    assert search.finding is None


def test_inside_of_transforms_and_of_modes():
    from torch.testing._internal.two_tensor import TwoTensor
    from torch.utils._debug_mode import DebugMode

    x = torch.tensor([[1.0], [-1.0]])
    batched = found(lambda: torch.func.vmap(nan_sources.logarithm)(x))
    assert (batched.name, origin(batched)) == ("aten::log", at("plain-log"))
    differentiated = found(lambda: torch.func.grad(lambda x: nan_sources.logarithm(x).sum())(x))
    assert (differentiated.name, origin(differentiated)) == ("aten::log", at("plain-log"))
    for of_each in (torch.func.grad, torch.func.jacrev, lambda f: torch.func.vmap(torch.func.grad(f))):
        gradient = found(lambda of_each=of_each: of_each(lambda x: x.sqrt().sum())(torch.zeros(2, 2)))
        assert (gradient.name, gradient.node) == ("aten::div", "SqrtBackward0")
    two = TwoTensor(torch.zeros(3), torch.zeros(3)).requires_grad_()
    of_parts = found(lambda: two.sqrt().sum().backward())
    assert (of_parts.name, of_parts.node) == ("aten::div", "SqrtBackward0")
    with DebugMode():
        shown = found(lambda: nan_sources.logarithm(x))
    assert (shown.name, origin(shown)) == ("aten::log", at("plain-log"))


def test_the_sum_of_gradients_is_a_place_of_its_own():
    finding = found(nan_sources.accumulation)
    assert (finding.kind, finding.name, finding.made) == ("node", "MulBackward0", False)
    assert "summed by the engine" in finding.why
    assert origin(finding) == at("shared")


def test_a_leafs_gradient_is_checked_where_it_is_added():
    x = torch.ones(2, requires_grad=True)
    x.grad = torch.tensor([3e38, 0.0])
    finding = found(lambda: (x * 3e38).backward(torch.ones(2)))
    assert "AccumulateGrad" in finding.name
    assert finding.values == ("inf",)
