"""The recipes of torch.fx's documentation and of its tracer cookbook: each runs and says what it should."""

import runpy
import sys

import pytest

from kit.paths import EXAMPLES
from pyharness.fx.transforms import INVERSES, TRANSFORMS

FOLDER = EXAMPLES / "fx"
EXPECTED = {
    "bad_pass": (
        "The first bad pass is fold_scales, 3 of 4: node second: ",
        "  found      good after 2, bad after 3; 7 runs",
        "  shrunk     from 6 calls to 2; ",
    ),
    "conv_bn_fusion": ("after:  x convs_0 relu convs_1 norms_1 add convs_2 output", "equal:  True"),
    "graph_by_hand": ("return sigmoid", "tanh = torch.tanh(linear)", "tensor([-0.7616, -0.7616])"),
    "inlining": (
        "gate_1 = self.gate(getitem, mask)",
        "mul_3 = sigmoid_1 * mask",
        "difference: 0.0",
        "shared: True",
    ),
    "interpreter": ("2.0      4,194,304  32,768", "3          131,072   1,024"),
    "inverting": (
        "asin       undoes sin        for -pi/2 <= x <= pi/2",
        "round trip within 1e-12: True",
        "['sub', 'log']",
        "add (operator.add at inverting.py:",
        "two values that depend on x: sin and cos",
    ),
    "leaves": (
        "blocks whole:      blocks_0 add blocks_1 add_1 head_0 head_1 head_2",
        "ReLU as function:  blocks_0 add blocks_1 add_1 head_0 relu head_2",
        "small ones whole:  blocks_0 add blocks_1 add_1 head\n",
    ),
    "limits": (
        "branch (Branching) cannot be traced at limits.py:",
        "leaves='branch'",
        "['x', 'flip', 'branch', 'add', 'output']",
        "rows = ",
        "train(): True",
        "fixed:      False",
    ),
    "probing": ("probe_log = self.probe_log(sub)", "before relu     [-0.89, 0.88]", "before log      [-0.10, 0.78]"),
    "provenance": (
        "abs_1      0.careful    provenance.py:",
        "tanh       0            provenance.py:",
        "a Transformer's, pickled:      0.careful 0.linear 0 0 1",
    ),
    "proxy_retracing": ("gt = x > 0", "truediv = x / add", "equal: True"),
    "replace_op": (
        "add_to_mul                     torch.mul(x, y) | add.add(1) | add_1 + y",
        "torch.mul(x, y) | torch.mul(mul, 1) | torch.mul(mul_1, y)",
    ),
    "rewrite_pattern": (
        "in module 0 replaces pow_1, mean, add, rsqrt, mul, mul_1",
        "in module 2 replaces",
        "equal: True",
    ),
    "shape_propagation": ("_2       module 2   (2, 7200) torch.float32", "agrees: True", "(1000000, 10)"),
    "verifying": (
        "as traced:       <Verdict: equal>",
        "made by node mul: it takes drop; the original takes the value of its half, which is gone",
        "verifying.py:25  scores = self.drop(self.linear(x)).half() * 3",
        "dtype is float32, not float16",
        "in another mode: drop: drop is in training mode, in the original in evaluation mode",
    ),
    "tagging": ("Transformer\n  encoder  {'stage': 'encode', 'depth': 1}\n  gelu     {'stage': 'encode', 'depth': 0}",),
}


@pytest.fixture(autouse=True)
def tables():
    """Examples add to them."""
    before = [(table, dict(table)) for table in (INVERSES, TRANSFORMS)]
    yield
    for table, entries in before:
        table.clear()
        table.update(entries)


def test_every_example_is_here():
    assert {path.stem for path in FOLDER.glob("*.py")} == set(EXPECTED)


@pytest.mark.parametrize("name", EXPECTED)
def test_an_example_says_what_it_should(name, capsys, monkeypatch):
    monkeypatch.setattr(sys, "argv", [f"{name}.py"])
    runpy.run_path(str(FOLDER / f"{name}.py"), run_name="__main__")
    printed = capsys.readouterr().out
    for words in EXPECTED[name]:
        assert words in printed
