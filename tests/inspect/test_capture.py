"""capture keeps what every module returned, call by call, and leaves nothing behind."""

import gc
import json
import threading
import weakref
from collections import OrderedDict

import pytest
import torch
from inspect_models import Frozen, ModelOutput, Pair, Returns, Shared, Slotted, Tree, hooks_of
from torch import nn
from torch.distributions import Normal
from torch.utils.checkpoint import checkpoint

from pyharness.inspect import TensorStatistics, capture
from pyharness.model.errors import HarnessError, UsageError

X = torch.randn(2, 4, generator=torch.Generator().manual_seed(0))


def test_every_module_is_captured_in_the_order_in_which_calls_end(deep):
    with capture(deep) as captured:
        result = deep(X)
    assert [path for path, _ in captured] == ["0", "1.0", "1.1.0", "1.1.1", "1.1", "1", ""]
    assert torch.equal(captured[""].tensor, result)
    assert torch.equal(captured["1.0"].tensor, deep[1][0](deep[0](X)))
    assert not any(record.tensor.requires_grad for record in captured.values())
    assert hooks_of(deep) == 0


@pytest.mark.parametrize(
    ("options", "paths"),
    [
        ({"depth": 0}, {""}),
        ({"depth": 1}, {"", "0", "1"}),
        ({"pattern": "1.*.0"}, {"1.1.0"}),
        ({"pattern": ["0", "*.1"]}, {"0", "1.1", "1.1.1"}),
        ({"depth": 2, "pattern": "1*"}, {"1", "1.0", "1.1"}),
    ],
)
def test_depth_and_pattern_choose(deep, options, paths):
    with capture(deep, **options) as captured:
        assert hooks_of(deep) == len(paths)
        deep(X)
    assert {path for path, _ in captured} == paths


@pytest.mark.parametrize(
    ("make", "names"),
    [
        (lambda y: (y, y + 1), {"[0]", "[1]"}),
        (lambda y: [y, [y + 1, None]], {"[0]", "[1][0]"}),
        (lambda y: {"a": y, "b": {3: y + 1}}, {"['a']", "['b'][3]"}),
        (lambda y: OrderedDict(a=y), {"['a']"}),
        (lambda y: Pair(y, (y + 1,)), {".first", ".second[0]"}),
        (lambda y: Frozen(y, [y + 1]), {".logits", ".extra[0]"}),
        (Slotted, {".score"}),
        (lambda y: ModelOutput(logits=y, hidden=(y, y + 1)), {".logits", ".hidden[1]"}),
        (lambda y: torch.max(y, 1), {"[0]", "[1]"}),
        (lambda y: Normal(y, torch.ones(2, 4)), {".loc", ".scale"}),
        (lambda y: nn.utils.rnn.pack_padded_sequence(y, [4, 4], batch_first=True), {".data", ".batch_sizes"}),
    ],
    ids=[
        "tuple",
        "list",
        "dict",
        "ordered",
        "named",
        "frozen",
        "slotted",
        "model-output",
        "structseq",
        "object",
        "packed",
    ],
)
def test_any_nesting_keeps_its_structure_and_is_detached(make, names):
    model = Returns(make)
    with capture(model) as captured:
        result = model(X)
    record = captured[""]
    assert type(record.output) is type(result)
    assert set(record.leaves) >= names
    assert all(not tensor.requires_grad for tensor in record.leaves.values())
    assert any(tensor.requires_grad for tensor in (captured["linear"].tensor, *_tensors_of(result)))
    with capture(model, detach=False) as on_graph:
        model(X)
    assert any(tensor.requires_grad for tensor in on_graph[""].leaves.values())
    assert all(torch.equal(tensor, on_graph[""].leaves[name]) for name, tensor in record.leaves.items())


def _tensors_of(value):
    from pyharness.inspect.nesting import leaves

    return [tensor for _, tensor in leaves(value)]


def test_items_that_are_attributes_too_are_detached_in_both_places():
    model = Returns(lambda y: ModelOutput(logits=y))
    with capture(model) as captured:
        model(X)
    output = captured[""].output
    assert output.logits is output["logits"]
    assert not output.logits.requires_grad


def test_an_output_without_tensors_stays_what_it_is():
    marker = object()
    model = Returns(lambda _y: {"text": "kept", "object": marker})
    with capture(model) as captured:
        result = model(X)
    assert captured[""].output is result
    assert captured[""].leaves == {}
    with pytest.raises(HarnessError, match="0 tensors"):
        _ = captured[""].tensor


def test_statistics_take_the_place_of_tensors_which_are_let_go():
    kept = []
    model = Returns(lambda y: (kept.append(weakref.ref(y)), {"y": y})[1])
    with capture(model, statistics=True) as captured, torch.no_grad():
        model(X)
    gc.collect()
    assert kept[0]() is None
    y = model.linear(X)
    found = captured[""].output["y"]
    assert isinstance(found, TensorStatistics)
    assert found.mean == pytest.approx(y.mean().item(), rel=1e-5)
    assert found.std == pytest.approx(y.std().item(), rel=1e-5)


def test_shared_modules_are_told_apart_by_who_called_them():
    model = Shared()
    with capture(model) as captured:
        model(X)
        model(X + 1)
    assert [(record.path, record.call) for record in captured.calls("embed")] == [("embed", 0), ("embed", 1)]
    assert [record.call for record in captured.calls("decoder.0")] == [0, 1, 2, 3]
    assert captured["embed", 0].paths == ("embed", "decoder.0", "decoder.2")
    assert torch.equal(captured["embed", 1].tensor, model.embed(X + 1))
    assert torch.equal(captured["decoder.0", 0].tensor, model.embed(model.embed(X)))
    assert len(captured.calls("decoder.2")) == 6, (
        "which name in decoder was used cannot be seen: all calls of the layer"
    )
    with pytest.raises(UsageError, match="called 2 times"):
        _ = captured["embed"]
    assert captured.not_called == ["unused"]
    assert hooks_of(model) == 0


def test_only_a_shared_module_is_wanted_and_still_its_path_is_known():
    model = Shared()
    with capture(model, pattern="decoder.0") as captured:
        model(X)
    assert [path for path, _ in captured] == ["embed", "decoder.0", "decoder.0"]


@pytest.mark.parametrize("inputs", [False, True])
def test_a_module_that_calls_itself(inputs):
    model = Tree()
    with capture(model, inputs=inputs) as captured:
        model(X, 2)
    levels = captured.calls("")
    assert [record.call for record in levels] == [0, 1, 2]
    assert torch.allclose(levels[2].tensor, levels[0].tensor + 2)
    if inputs:
        assert [record.inputs[0][1] for record in levels] == [0, 1, 2], "inner calls end first"


def test_inputs_are_kept_as_they_were_before_the_call():
    model = nn.Sequential(nn.Linear(4, 4), nn.ReLU(inplace=True))
    with capture(model, inputs=True, copy=True) as captured:
        model(X)
    ((given,), keywords) = captured["1"].inputs
    assert keywords == {}
    assert torch.equal(given, captured["0"].tensor)
    assert (given < 0).any(), "the layer overwrote its input afterwards"


def test_keyword_arguments_are_inputs():
    model = Tree()
    with capture(model, inputs=True, depth=0) as captured:
        model(X, depth=0)
    assert captured[""].inputs[1] == {"depth": 0}


def test_what_was_overwritten_later_is_told():
    model = nn.Sequential(nn.Linear(4, 4), nn.ReLU(inplace=True), nn.Linear(4, 2))
    with capture(model) as captured:
        model(X)
    assert captured["0"].overwritten == ("",)
    assert captured["2"].overwritten == ()
    assert any("overwritten in place later" in line.text for line in captured.lines())
    with capture(model, copy=True) as copied:
        model(X)
    assert copied["0"].overwritten == ()
    assert torch.equal(copied["0"].tensor, model[0](X))


def test_gradients_of_outputs():
    model = nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 2))
    with capture(model, gradients=True) as captured:
        model(X).square().sum().backward()
    y = captured["2"].tensor
    assert torch.allclose(captured["2"].gradient, 2 * y)
    slope = 1 - captured["1"].tensor ** 2
    assert torch.allclose(captured["0"].gradient, (2 * y @ model[2].weight) * slope)
    assert not captured["0"].gradient.requires_grad


def test_gradients_stop_with_the_capture():
    model = nn.Sequential(nn.Linear(4, 4), nn.Tanh())
    with capture(model, gradients=True, statistics=True) as captured:
        loss = model(X).sum()
    loss.backward()
    with pytest.raises(HarnessError, match="no gradient of 0"):
        _ = captured["0"].gradient


def test_recomputation_of_a_checkpoint_is_told():
    model = nn.Sequential(nn.Linear(4, 4), nn.Tanh())
    with capture(model, pattern="*[01]") as captured:
        checkpoint(model, X.clone().requires_grad_(), use_reentrant=False).sum().backward()
    assert [record.recomputed for record in captured.calls("0")] == [False, True]


def test_threads_are_told_apart(deep):
    together = threading.Barrier(2)
    threads = {}

    def run(number):
        threads[number] = threading.get_ident()
        together.wait()
        for _ in range(50):
            deep(X + number)
        together.wait()

    with capture(deep, inputs=True) as captured:
        workers = [threading.Thread(target=run, args=(number,)) for number in range(2)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    for number, thread in threads.items():
        own = [record for record in captured.calls("0") if record.thread == thread]
        assert len(own) == 50
        assert all(torch.equal(record.inputs[0][0], X + number) for record in own)


def test_inference_mode(deep):
    with torch.inference_mode(), capture(deep) as captured:
        deep(X)
    assert captured["0"].tensor.shape == (2, 8)
    assert captured["0"].overwritten == ()


def test_it_may_be_read_while_open_and_used_again(deep):
    captured = capture(deep, depth=0)
    with captured:
        deep(X)
        assert len(captured) == 1
        with pytest.raises(HarnessError, match="open already"):
            captured.__enter__()
        deep(X)
        assert len(captured) == 2
    deep(X)
    assert len(captured) == 2
    with captured:
        deep(X)
    assert len(captured) == 3


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda captured: captured["1.1.O"], "no module '1.1.O'.\nDid you mean 1.1"),
        (lambda captured: captured["1.1.0", 1], "no call 1 of 1.1.0"),
        (lambda captured: captured["1.0"], "was not captured.\ndepth and pattern"),
    ],
)
def test_a_wrong_name_is_answered(deep, ask, message):
    with capture(deep, pattern="1.1*") as captured:
        deep(X)
    with pytest.raises(UsageError) as caught:
        ask(captured)
    assert message in str(caught.value)
    assert "1.1.0" in captured
    assert "nothing" not in captured


def test_a_module_that_was_not_called_is_told():
    model = Shared()
    with capture(model) as captured:
        model(X)
    with pytest.raises(UsageError, match="unused was not called"):
        _ = captured["unused"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"pattern": "1.1.O"}, "No module matches '1.1.O'.\nDid you mean 1.1"),
        ({"depth": 1, "pattern": "1.1.0"}, "depth=3 is the least"),
        ({"depth": -1}, "depth is a number of levels"),
        ({"pattern": 3}, "pattern is a pattern"),
        ({"statistics": True, "detach": False}, "Choose one"),
    ],
)
def test_a_wrong_choice_is_answered(deep, options, message):
    with pytest.raises(UsageError) as caught:
        capture(deep, **options)
    assert message in str(caught.value)


def test_not_a_module_is_answered():
    with pytest.raises(UsageError, match="not function"):
        capture(lambda x: x)


def test_the_tree_shows_modules_as_they_are_nested():
    model = Shared()
    with capture(model) as captured:
        model(X)
    lines = [line.text for line in captured.tree()]
    names = [line[: lines[0].index("class")].rstrip() for line in lines[1:]]
    assert names == ["(root)", "├─ embed", "├─ decoder", "│  ├─ 0#0", "│  ├─ 0#1", "│  └─ 1", "└─ unused"]
    assert lines[-1].endswith("not called")
    assert "shared with decoder.0, decoder.2" in lines[2]


def test_bad_values_stand_out():
    model = Returns(lambda y: torch.full_like(y, float("nan")))
    with capture(model) as captured:
        model(X)
    (line,) = [line for line in captured.lines(statistics=False) if "(root)" in line.text]
    assert (line.style, line.text.endswith("8 NaN")) == ("bad", True)


def test_json(deep):
    with capture(deep, inputs=True, gradients=True) as captured:
        deep(X).sum().backward()
    told = json.loads(json.dumps(captured.to_json()))
    assert [call["path"] for call in told["calls"]] == [path for path, _ in captured]
    first = told["calls"][0]
    assert first["inputs"]["[0]"]["shape"] == [2, 4]
    assert first["output"][""]["std"] == pytest.approx(float(captured["0"].tensor.std()), rel=1e-5)
    assert set(first["gradients"]) == {""}


def test_the_package_imports_without_torch():
    import subprocess
    import sys

    code = "import sys, pyharness.inspect; sys.exit('torch' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
