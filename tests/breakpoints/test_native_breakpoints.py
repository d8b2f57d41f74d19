"""Native breakpoints in this process: which ops and nodes they mean, when their conditions hold, what they do."""

import threading
import warnings

import pytest
import torch
from torch import nn

from pyharness.model.errors import UsageError
from pyharness.native import breakpoint as native_breakpoint


@pytest.fixture
def hits():
    return []


def names(hits):
    return [hit.name for hit in hits]


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(4))
        self.norm = nn.LayerNorm(4)

    def forward(self, x):
        return self.norm(x) * self.gain


def make_net():
    return nn.Sequential(nn.Linear(4, 4), nn.Sequential(Block(), Block()))


# --- which ops --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("op", ["aten::mul", "aten::mul.Tensor", "mul", "aten::m?l", "*::mul"])
def test_an_op_by_its_name(op, hits):
    x = torch.ones(3)
    with native_breakpoint(op=op, action=hits.append) as point:
        x + x
        x * x  # the line
        x.sum()
        assert point.hits == 1
    x * x
    assert names(hits) == ["aten::mul"]
    (hit,) = hits
    assert (hit.kind, hit.overload, hit.before, hit.count) == ("op", "Tensor", True, 1)
    assert hit.file == __file__
    assert hit.function == "test_an_op_by_its_name"
    assert hit.inputs[0] is x
    assert hit.outputs == ()


def test_many_at_once_and_each_counts_its_own(hits):
    x = torch.ones(3)
    first = native_breakpoint(op="aten::mul", action=hits.append)
    second = native_breakpoint(op="aten::*", action=hits.append)
    x * x
    x + x
    first.remove()
    first.remove()
    x * x
    second.remove()
    x * x
    assert names(hits).count("aten::mul") == 3
    assert (first.hits, second.hits) == (1, 3)


def test_only_the_nth(hits):
    x = torch.ones(3)
    with native_breakpoint(op="aten::mul", nth=3, action=hits.append):
        for i in range(5):
            x * i
    assert [hit.inputs[1] for hit in hits] == [2]


def test_what_an_action_runs_hits_nothing(hits):
    x = torch.ones(3)
    with native_breakpoint(op="aten::mul", action=lambda hit: hits.append(hit.inputs[0] * 2)):
        x * x
    assert [value.tolist() for value in hits] == [[2.0] * 3]


def test_an_action_that_fails_is_said_and_the_program_goes_on(monkeypatch):
    said = []
    monkeypatch.setattr("sys.unraisablehook", lambda args: said.append(args.exc_value))
    with native_breakpoint(op="aten::mul", action=lambda _hit: 1 / 0):
        assert (torch.ones(2) * 2).tolist() == [2.0, 2.0]
    assert [type(error) for error in said] == [ZeroDivisionError]


def test_ops_of_a_module(hits):
    net, x = make_net(), torch.ones(2, 4)
    with native_breakpoint(op="aten::mul", module="1.1", action=hits.append):
        net(x)
        net(x)
    assert names(hits) == ["aten::mul"] * 2
    assert hits[0].calls[0].module == "1.1"
    hits.clear()
    with native_breakpoint(module="1.*.norm", action=hits.append):
        net(x)
    assert names(hits).count("aten::layer_norm") == 2
    assert "aten::mul" not in names(hits)
    assert "aten::linear" not in names(hits)


def test_ops_on_other_threads(hits):
    def work():
        for _ in range(50):
            torch.ones(2) * 2

    with native_breakpoint(op="aten::mul", when="numel(in0) == 2", action=hits.append) as point:
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert point.hits == 200
    assert len(hits) == 200


@pytest.mark.filterwarnings("ignore:.*torch.jit.script.*:DeprecationWarning")
def test_ops_on_threads_without_python(hits, capfd):
    """TorchScript's here; the autograd engine's for a device."""

    @torch.jit.script
    def log(x):
        return torch.log(x)

    @torch.jit.script
    def forked(x):
        return torch.jit.wait(torch.jit.fork(log, x))

    assert forked(torch.ones(2)).tolist() == [0.0, 0.0]
    with (
        native_breakpoint(op="aten::log", when="inf(out)", action=hits.append),
        native_breakpoint(op="aten::log", action="log"),
        native_breakpoint(op="aten::log", action="pdb"),
        native_breakpoint(op="aten::log", action="debugpy"),
    ):
        forked(torch.zeros(2))
    (hit,) = hits
    assert (hit.file, hit.line, hit.frame, hit.calls) == ("", 0, None, ())
    assert hit.outputs[0].isinf().all()
    said = capfd.readouterr().err.splitlines()
    assert said[0] == "pyharness: aten::log(float32[2]), hit 1"
    assert [line.partition("hit 1 ")[2] for line in said[1:]] == [
        "(no Python here: pdb has nothing to show)",
        "(debugpy is not loaded)",
    ]


def test_set_and_removed_while_ops_run(hits):
    over = threading.Event()

    def work():
        while not over.is_set():
            torch.ones(2) * 2

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for _ in range(60):
        with native_breakpoint(op="aten::mul", when="numel(in0) == 3", action=hits.append):
            torch.ones(3) * 2
    over.set()
    for thread in threads:
        thread.join()
    assert len(hits) == 60


# --- nodes ------------------------------------------------------------------------------------------------------------


def test_nodes_before_they_run(hits):
    x = torch.ones(3, requires_grad=True)
    y = (x * 2).sum()
    with native_breakpoint(node="MulBackward0", action=hits.append):
        y.backward()
    (hit,) = hits
    assert (hit.kind, hit.before) == ("node", True)
    assert hit.inputs[0].tolist() == [1.0] * 3


def test_nodes_by_what_comes_out(hits):
    x = torch.tensor([1.0, 0.0], requires_grad=True)
    with native_breakpoint(node="*Backward*", when="inf(out) and not inf(in0)", action=hits.append):
        x.log().sum().backward()
    assert names(hits) == ["LogBackward0"]
    assert not hits[0].before
    assert torch.isinf(hits[0].outputs[0]).any()


def test_nodes_of_python_and_without_their_namespace(hits):
    class Twice(torch.autograd.Function):
        @staticmethod
        def forward(_ctx, x):
            return 2 * x

        @staticmethod
        def backward(_ctx, grad):
            return 2 * grad

    x = torch.ones(3, requires_grad=True)
    with (
        native_breakpoint(node="TwiceBackward", action=hits.append),
        native_breakpoint(node="AccumulateGrad", action=hits.append),
    ):
        Twice.apply(x).sum().backward()
    assert [name.rpartition(":")[2] for name in names(hits)] == ["TwiceBackward", "AccumulateGrad"]


def test_nodes_that_a_module_made(hits):
    net, x = make_net(), torch.ones(2, 4)
    with native_breakpoint(node="MulBackward0", module="1.0", action=hits.append):
        net(x).sum().backward()
    assert names(hits) == ["MulBackward0"]


def test_nodes_made_before_anybody_asked_are_of_no_module(hits):
    net, x = make_net(), torch.ones(2, 4)
    options = {"node": "MulBackward0", "module": "1.0", "action": hits.append}
    with native_breakpoint(**options):
        early = net(x)
    others = (torch.ones(3, requires_grad=True) * 2).sum()
    with native_breakpoint(**options):
        late = net(x)
        others.backward()
        early.sum().backward()
        assert hits == []
        late.sum().backward()
    assert names(hits) == ["MulBackward0"]


def test_ops_that_a_node_runs(hits):
    x = torch.ones(3, requires_grad=True)
    with native_breakpoint(op="aten::mul", node="MulBackward0", action=hits.append):
        y = x * x
        y.sum().backward()
    assert names(hits) == ["aten::mul"] * 2


# --- conditions -------------------------------------------------------------------------------------------------------

ONES, BAD = torch.ones(2, 3), torch.tensor([[1.0, float("nan"), float("inf")]])


@pytest.mark.parametrize(
    ("when", "holds"),
    [
        ("shape(in0)[0] == 2 and shape(in0)[-1] == 3", True),
        ("shape(in0) == (2, 3)", True),
        ("shape(in0) == (2, 4)", False),
        ("shape(in0) != (2, 3, 1)", True),
        ("size(in0, 5) == 0 or size(in0, 5) != 0", False),
        ("dim(in0) == len(shape(in0)) == 2", True),
        ("numel(in0) in (5, 6)", True),
        ("numel(in0) not in (5, 6)", False),
        ("nan(in0) or inf(in0)", False),
        ("nan(in1) and inf(in1) and not finite(in1)", True),
        ("finite(in0)", True),
        ("max(in0) == 1 and min(in0) == 1 and mean(in0) == 1 and sum(in0) == 6", True),
        ("max(in1) == max(in1)", False),
        ("absmax(in0) > 0.5", True),
        ('dtype(in0) == "float32" and device(in0) == "cpu"', True),
        ('device(in0) == "cuda:0"', False),
        ("requires_grad(in0)", False),
        ("contiguous(in0)", True),
        ("defined(in0) and not defined(in7)", True),
        ("max(in7) > 0 or not max(in7) > 0", True),
        ("in7 == in7", False),
        ("nan(out)", True),
        ("shape(out)[1] == 3", True),
        ("7 // 2 == 3 and -7 % 3 == 2 and 2 ** 3 == 8 and -(1 - 3) / 4 == 0.5", True),
        ("abs(-3) == 3 and (1 < 2 < 3) and not (1 < 2 < 2)", True),
    ],
)
def test_conditions_on_tensors(when, holds, hits):
    with native_breakpoint(op="aten::mul", when=when, action=hits.append):
        ONES * BAD
    assert len(hits) == holds


@pytest.mark.parametrize("dtype", [torch.float64, torch.float16, torch.bfloat16, torch.complex64])
def test_bad_values_of_other_types(dtype, hits):
    bad = torch.tensor([1.0, float("nan")]).to(dtype)
    with native_breakpoint(op="aten::mul", when="nan(in0) and not inf(in0)", action=hits.append):
        bad * 1
        torch.ones(2, dtype=dtype) * 1
    assert len(hits) == 1


def test_numbers_integers_views_and_lists(hits):
    grid = torch.arange(12).reshape(3, 4)
    with (
        native_breakpoint(
            op="aten::mul", when="max(in0) == 9 and not contiguous(in0) and in1 == 2", action=hits.append
        ),
        native_breakpoint(op="aten::cat", when="numel(in0[1]) == 3 and nan(in0) and in1 == 0", action=hits.append),
    ):
        grid[:, 1] * 2
        grid[:, 1] * 3
        grid[:, 2] * 2
        torch.cat([torch.ones(2), torch.full((3,), float("nan"))])
        torch.cat([torch.ones(2), torch.ones(3)])
    assert names(hits) == ["aten::mul", "aten::cat"]


def test_tensors_without_memory_of_their_own_have_no_values(hits):
    from torch._subclasses.fake_tensor import FakeTensorMode

    with native_breakpoint(op="aten::mul", when="finite(in0) or nan(in0) or not numel(in0) == 4", action=hits.append):
        with FakeTensorMode():
            torch.ones(4) * 2
        torch.ones(4, device="meta") * 2
        torch.func.vmap(lambda x: x * 2)(torch.ones(3, 4))
    assert all(hit.name == "aten::mul" for hit in hits)
    with native_breakpoint(op="aten::mul", when="finite(in0)", action=hits.append) as point:
        torch.ones(4, device="meta") * 2
        assert point.hits == 0


def test_a_tensor_of_torch_func_has_the_values_that_its_wrappers_hold(hits):
    with (
        native_breakpoint(op="aten::log", when="inf(out)", action=hits.append),
        native_breakpoint(node="LogBackward0", when="inf(out)", action=hits.append),
        native_breakpoint(op="aten::log", when="in0 == 3", action=hits.append) as of_all,
    ):
        torch.func.grad(lambda x: x.log().sum())(torch.zeros(2))
        torch.func.vmap(lambda x: x.log())(torch.ones(3))
    assert {hit.kind for hit in hits} == {"op", "node"}
    assert of_all.hits == 0  # the sum of what vmap maps over is no element


def test_inputs_and_outputs_in_one_condition(hits):
    with native_breakpoint(op="aten::log", when="inf(out) and finite(in0)", action=hits.append):
        torch.zeros(2).log()
        torch.ones(2).log()
        torch.full((2,), float("inf")).log()
    (hit,) = hits
    assert (hit.before, hit.inputs[0].tolist()) == (False, [0.0, 0.0])
    assert torch.isinf(hit.outputs[0]).all()


# --- what is said -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"op": "aten::mull"}, "Did you mean aten::mul"),
        ({"op": "relo"}, "Did you mean aten::relu"),
        ({"op": "aten::mul", "when": "nan(inn0)"}, "Did you mean in0"),
        ({"op": "aten::mul", "action": "stopp"}, "Did you mean stop"),
        ({"op": "aten::mul", "nth": -1}, "the first match is 1"),
        ({"op": "aten::mul", "nth": 1 << 70}, "the first match is 1"),
        ({"op": 5}, "5 is no name and no condition"),
        ({}, "needs one of"),
        ({"site": "there.is.none"}, "No loaded library has a place"),
        ({"site": "a", "op": "aten::mul"}, "has no op"),
    ],
)
def test_what_cannot_be_meant(asked, message):
    with pytest.raises(UsageError) as raised:
        native_breakpoint(**asked)
    assert message in str(raised.value)


def test_ops_of_a_library_that_is_not_loaded_yet_may_be_named(hits):
    with native_breakpoint(op="not_loaded_yet::op", action=hits.append) as point:
        torch.ones(2) * 2
        assert point.hits == 0


def test_too_many_are_refused_and_the_others_hold(hits):
    points = [native_breakpoint(op="aten::mul", action=hits.append) for _ in range(64)]
    with pytest.raises(UsageError, match="already"):
        native_breakpoint(op="aten::mul", action=hits.append)
    torch.ones(2) * 2
    assert len(hits) == 64
    for point in points:
        point.remove()


def test_a_line_on_stderr(capsys):
    with native_breakpoint(op="aten::mul", when="nan(out)", action="log"), warnings.catch_warnings():
        BAD * 2
    said = capsys.readouterr().err
    assert said.startswith("pyharness: aten::mul.Tensor(float32[1, 3], int64[]) → float32[1, 3] at ")
    assert f"{__file__}:" in said
    assert said.endswith("hit 1\n")
