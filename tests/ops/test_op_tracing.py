"""The ops under everything that traces: opcheck, meta tensors, FX, torch.export and torch.compile."""

import pytest
import torch
from op_samples import SMALL

import pyharness.ops

OPS = torch.ops.pyharness
FIRST = {sample.op: sample for sample in reversed(SMALL) if len(sample.shapes[0]) == 3 and min(sample.shapes[0]) > 1}


def backward_arguments(sample):
    """Arguments of the op's backward op."""
    arguments = sample.arguments(torch.float64)
    output = getattr(OPS, sample.op)(*arguments)
    grad = torch.randn_like(output)
    if sample.op == "gated_scan":
        return [grad, arguments[0], output, arguments[2]]
    return [grad, *arguments]


@pytest.mark.parametrize("sample", SMALL, ids=str)
def test_opcheck(sample):
    checks = ("test_schema", "test_autograd_registration", "test_faketensor")
    for requires_grad in (False, True):
        arguments = sample.arguments(torch.float32, requires_grad=requires_grad)
        torch.library.opcheck(getattr(OPS, sample.op).default, arguments, test_utils=checks)


@pytest.mark.parametrize("sample", FIRST.values(), ids=str)
def test_opcheck_of_traced_graphs(sample):
    torch.library.opcheck(getattr(OPS, sample.op).default, sample.arguments(torch.float32, requires_grad=True))


@pytest.mark.parametrize("sample", FIRST.values(), ids=str)
def test_opcheck_of_the_backward_op(sample):
    arguments = [
        argument.requires_grad_() if isinstance(argument, torch.Tensor) and argument.is_floating_point() else argument
        for argument in backward_arguments(sample)
    ]
    torch.library.opcheck(getattr(OPS, f"{sample.op}_backward").default, arguments)


def on_meta(arguments):
    return [argument.to("meta") if isinstance(argument, torch.Tensor) else argument for argument in arguments]


def described(result):
    outputs = result if isinstance(result, tuple) else (result,)
    return [(output.shape, output.stride(), output.dtype) for output in outputs]


@pytest.mark.parametrize("sample", SMALL, ids=str)
def test_meta_tensors_have_the_shapes_of_real_ones(sample):
    for op, arguments in (
        (getattr(OPS, sample.op), sample.arguments(torch.float64)),
        (getattr(OPS, f"{sample.op}_backward"), backward_arguments(sample)),
    ):
        assert described(op(*on_meta(arguments))) == described(op(*arguments))


class Model(torch.nn.Module):
    """All four ops in a row."""

    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.rand(8) + 0.5)
        self.gate = torch.nn.Linear(8, 8)
        self.up = torch.nn.Linear(8, 8)

    def forward(self, x, target):
        hidden = pyharness.ops.rms_norm(x, self.weight)
        hidden = pyharness.ops.swiglu(self.gate(hidden), self.up(hidden))
        hidden = pyharness.ops.gated_scan(torch.sigmoid(hidden), hidden, hidden[:, 0])
        return pyharness.ops.softmax_cross_entropy(hidden, target, label_smoothing=0.1)


@pytest.fixture
def model():
    torch.manual_seed(0)
    return Model(), (torch.randn(2, 5, 8), torch.randint(0, 8, (2, 5)))


def loss_and_gradients(function, model, inputs):
    model.zero_grad()
    loss = function(*inputs)
    loss.backward()
    return [loss.detach(), *(parameter.grad for parameter in model.parameters())]


def test_fx_records_one_node_a_call(model):
    module, inputs = model
    traced = torch.fx.symbolic_trace(module)
    targets = [node.target for node in traced.graph.nodes if node.op == "call_function"]
    for name in ("rms_norm", "swiglu", "gated_scan", "softmax_cross_entropy"):
        assert targets.count(getattr(OPS, name).default) == 1
    torch.testing.assert_close(traced(*inputs), module(*inputs))


def test_export_keeps_the_ops_and_takes_other_sizes(model):
    module, inputs = model
    batch, time = torch.export.Dim("batch"), torch.export.Dim("time")
    shapes = ({0: batch, 1: time}, {0: batch, 1: time})
    program = torch.export.export(module, inputs, dynamic_shapes=shapes)
    assert "torch.ops.pyharness.gated_scan.default" in program.graph_module.code
    other = (torch.randn(3, 7, 8), torch.randint(0, 8, (3, 7)))
    torch.testing.assert_close(program.module()(*other), module(*other))


@pytest.mark.rotated_tests(turns=8, number=1)
@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
def test_compile_makes_one_graph_with_the_same_gradients(model, backend):
    module, inputs = model
    compiled = torch.compile(module, fullgraph=True, backend=backend)
    actual = loss_and_gradients(compiled, module, inputs)
    torch.testing.assert_close(actual, loss_and_gradients(module, module, inputs))


def test_compile_takes_dynamic_shapes(model):
    module, _ = model
    compiled = torch.compile(module, fullgraph=True, backend="aot_eager", dynamic=True)
    for time in (3, 6):
        inputs = (torch.randn(2, time, 8), torch.randint(0, 8, (2, time)))
        torch.testing.assert_close(
            loss_and_gradients(compiled, module, inputs), loss_and_gradients(module, module, inputs)
        )
