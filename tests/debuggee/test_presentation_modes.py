"""Showing a tensor runs none of the user's hooks, modes or transforms, and what it cannot show says why."""

import subprocess
import sys
import warnings

import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from pyharness.debuggee.shown import module as presentation_module
from pyharness.debuggee.shown import tensor as presentation_tensor
from pyharness.debuggee.shown.items import Group, Line

TEXT = "Tensor float32 [2, 3] cpu [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]"


class NoOp(TorchDispatchMode):
    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        raise AssertionError(f"{function} was run")


class NoFunction(TorchFunctionMode):
    def __torch_function__(self, function, types, args=(), kwargs=None):
        raise AssertionError(f"{function} was called")


class Strict(torch.Tensor):
    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        raise AssertionError(f"{function} was called")


def matrix():
    return torch.arange(6.0).reshape(2, 3)


def opened(value):
    """Every line of a tensor and its groups, to the end."""
    if isinstance(value, (Line, torch.Tensor)) or not isinstance(value, Group):
        return [str(value) if isinstance(value, Line) else ""]
    return [line for child in value.children() for line in opened(child.value)]  # type: ignore[attr-defined]


def everything(tensor):
    text = presentation_tensor.text(tensor)
    lines = [line for child in presentation_tensor.children(tensor) for line in opened(child.value)]
    return text, lines


@pytest.mark.parametrize("mode", [NoOp, NoFunction])
def test_no_mode_is_asked(mode):
    tensor = matrix()
    with mode():
        text, lines = everything(tensor)
    assert text == TEXT
    assert "2.5" in lines  # the mean: computed by torch


def test_no_subclass_is_asked():
    text, lines = everything(matrix().as_subclass(Strict))
    assert text == TEXT
    assert "5.0" in lines


def test_inside_vmap():
    seen = []

    def look(row):
        seen.append(presentation_tensor.text(row))
        return row

    torch.vmap(look)(matrix())
    assert seen == ["Tensor float32 [3] cpu <a at::functorch wrapper has no storage>"]


def test_inside_grad():
    seen = []

    def look(x):
        seen.append(everything(x)[0])
        return x.sum()

    torch.func.grad(look)(matrix())
    assert seen[0].startswith("Tensor float32 [2, 3] cpu")


def test_a_fake_tensor():
    with FakeTensorMode(), warnings.catch_warnings():
        warnings.simplefilter("error")  # torch warns who asks for its memory, "almost definitely a bug in your code"
        fake = torch.ones(2, 3)
        assert everything(fake)[0].startswith("Tensor float32 [2, 3] cpu")
        assert "storage" in everything(fake)[0] or "meta" in everything(fake)[0]


def test_under_no_history_and_autocast():
    tensor = matrix().requires_grad_()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        text, lines = everything(tensor * 1)
    assert text.startswith("Tensor float32 [2, 3] cpu grad_fn=<MulBackward0>")
    assert "2.5" in lines


def test_looking_leaves_no_history():
    tensor = matrix().requires_grad_()
    everything(tensor)
    assert torch.is_grad_enabled()
    assert tensor.grad_fn is None
    assert tensor._version == 0


def test_memory_that_is_gone_is_named():
    storage = torch.frombuffer(bytearray(64), dtype=torch.float32)
    beyond = matrix()
    view = beyond.view(-1)
    beyond.untyped_storage().resize_(8)
    assert "reach beyond its storage of 8 bytes" in presentation_tensor.text(view)
    assert presentation_tensor.text(storage).startswith("Tensor float32 [16] cpu [0.0, 0.0,")


class Small(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(3, 2)

    def forward(self, x):
        return torch.relu(self.linear(x))


def test_a_graph_module_shows_its_nodes():
    traced = torch.fx.symbolic_trace(Small())
    children = {child.name: child for child in presentation_module.module_children(traced)}
    assert presentation_module.module_text(traced) == "Small (1 submodule)"
    nodes = {child.name: child.value for child in children["graph"].value.children()}
    assert list(nodes) == ["x", "linear", "relu", "output"]
    assert presentation_module.node_text(nodes["relu"]) == "call_function torch.relu(linear)"
    shown = {child.name: child.value for child in presentation_module.node_children(nodes["linear"])}
    assert (shown["op"], shown["target"], shown["module"]) == ("call_module", "linear", "linear")
    assert "users" in shown


def test_nothing_imports_torch():
    code = (
        "import sys; import debugpy.server; from pyharness.debuggee.pydevd.values import presentation;"
        "presentation.register();"
        "from _pydevd_bundle.pydevd_xml import get_type, get_variable_details;"
        "print(get_variable_details([1, {2: 'x'}])[4], 'torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.strip().endswith("False"), done.stderr
