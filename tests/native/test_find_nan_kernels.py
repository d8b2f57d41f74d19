"""``find_nan`` in what inductor makes: the node within a kernel that makes the first bad value is named."""

import math
from pathlib import Path

import pytest
import torch
import torch._dynamo  # a program that compiles has imported it
from torch import nn

import pyharness
from kit import inductor, marks, rotation

pytestmark = pytest.mark.rotated_tests(turns=9)

MASK = torch.ones(8, 8, dtype=torch.bool)


def root(x):
    return (x - 2).sqrt() * 2  # @root


def overflow(x):
    return ((x.cos() + 1) * 100).exp() + 1  # @overflow


def row_without_an_element(x):
    return x.masked_fill(~MASK.triu(1), -math.inf).softmax(-1) + 1  # @row_without_an_element


def quotient_of_a_norm(x):
    zero = x - x
    return zero / zero.norm(dim=-1, keepdim=True) + 1  # @quotient_of_a_norm


def root_in_the_place_of_its_sum(x):
    return (x - 2).sum(-1).sqrt()  # @root_in_the_place_of_its_sum


def root_of_one_sum(x):
    return (x - 2).sum().sqrt()  # @root_of_one_sum


def sum_of_many(x):
    return (x.abs() * 9e37).sum(-1) * 0.5  # @sum_of_many


def half(x):
    return x.half().abs() * 60000 + 60000  # @half


def masked(x):
    return x.masked_fill(~MASK.tril(), -math.inf).softmax(-1)


def mask_that_is_stored(x):
    return x.sin().masked_fill(~MASK.tril(), -math.inf)


def mended(x):
    return torch.sigmoid(x * -1000) + 1


def filled(x):
    return x.clone().fill_diagonal_(math.nan).sin() + 1


@pytest.fixture(autouse=True)
def fresh(tmp_path, monkeypatch):
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", inductor.cache(tmp_path / "inductor"))
    monkeypatch.setenv("PYHARNESS_HOME", str(tmp_path / "home"))
    torch._dynamo.reset()
    torch.manual_seed(0)


def found(run, **options):
    findings = []
    with pyharness.find_nan(action=findings.append, **options) as search:
        run()
    assert search.kernels
    return findings[0] if findings else None


def of(function, **options):
    with torch.no_grad():
        return found(lambda: torch.compile(function)(torch.randn(8, 8)), **options)


@pytest.mark.rotated_tests(turns=1, number=0)
@pytest.mark.rotated(turns=9)
@pytest.mark.parametrize(
    ("function", "kind", "node"),
    [
        pytest.param(root, "nan", "sqrt", marks=rotation.always),
        (overflow, "inf", "exp"),
        (row_without_an_element, "nan", "sub"),
        (quotient_of_a_norm, "nan", "div"),
        (root_in_the_place_of_its_sum, "nan", "sqrt"),
        (root_of_one_sum, "nan", "sqrt"),
        pytest.param(sum_of_many, "inf", "sum", marks=rotation.always),
        (half, "inf", "add"),
    ],
)
def test_the_node_is_named_that_makes_it(function, kind, node):
    finding = of(function)
    assert finding is not None
    place = finding.kernel
    assert (finding.made, finding.values) == (True, (kind,))
    assert place.node.rstrip("_0123456789") == node, place
    assert (finding.origin.file, finding.origin.line) == (__file__, marks.line_of(function.__name__, __file__))
    assert Path(place.file).read_text().split("\n")[place.line - 1].strip() == place.text
    assert finding.name.startswith("cpp_fused_")
    assert finding.calls[0].file == place.wrapper


@pytest.mark.rotated_tests(turns=3, number=0)
def test_a_block_that_did_not_run_makes_nothing():
    """Where sizes are known at the call only, a row may be shorter than a vector."""
    with torch.no_grad():
        finding = found(lambda: torch.compile(root, dynamic=True)(torch.randn(3, 7)))
    assert finding is not None
    assert finding.kernel.node.rstrip("_0123456789") == "sqrt"
    assert ".sqrt()" in finding.kernel.text
    assert len(finding.kernel.element) == 2


@pytest.mark.rotated(turns=3)
@pytest.mark.parametrize("function", [masked, mask_that_is_stored, mended, pytest.param(filled, marks=rotation.always)])
def test_what_the_program_names_itself_and_what_is_mended_is_not_bad(function):
    assert of(function) is None


def test_the_element_and_what_it_was_computed_of_are_told():
    finding = of(root)
    torch.manual_seed(0)
    x = torch.randn(8, 8) - 2
    first = tuple(int(each) for each in (x < 0).nonzero()[0])
    assert finding.kernel.element == first
    assert finding.kernel.given == {"sub": pytest.approx(float(x[first]))}
    assert {each.name: each.statistics.nan for each in finding.outputs} == {"out_ptr0": int((x < 0).sum())}


def test_a_part_of_what_has_several_values_is_placed_where_they_are_made():
    """The variance of one number: `getitem`, of which the map of the kernel says nothing."""

    def scaled(x):
        variance, mean = torch.var_mean(x, 0, keepdim=True)  # @scaled
        return (x - mean) / variance

    with torch.no_grad():
        place = found(lambda: torch.compile(scaled)(torch.ones(1, 8))).kernel
    assert (place.node, place.captured, place.element) == ("getitem", "var_mean", (0, 0))
    assert place.origin_line == marks.line_of("scaled", __file__)


class Power(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(8))

    def forward(self, x):
        return (x * self.weight).abs().pow(0.5) + 1  # @backward


def test_a_buffer_that_the_kernel_alone_writes_is_no_input():
    """Memory that nobody has written may have anything, NaN too; here the root takes the place of the sum."""
    found = of(root_in_the_place_of_its_sum)
    assert [each.name for each in found.outputs] == ["in_out_ptr0"]
    assert [each.name for each in found.inputs] == ["in_ptr0"]


def test_in_backward_the_node_has_the_module_and_the_line_of_its_forward():
    x = torch.rand(4, 8) + 1
    x[2, 3] = 0
    model = torch.compile(nn.Sequential(nn.Identity(), Power()))
    finding = found(lambda: model(x).sum().backward(), values=("nan",))
    assert finding.kernel.element == (2, 3)
    assert finding.module == "1"
    assert (finding.origin.file, finding.origin.line) == (__file__, marks.line_of("backward", __file__))
    assert math.inf in finding.kernel.given.values()


def test_a_nan_that_comes_in_is_said_to_be_received():
    x = torch.randn(8, 8)
    x[1, 2] = math.nan
    compiled = torch.compile(lambda x: x.sin() * 2)
    with torch.no_grad():
        finding = found(lambda: compiled(x))
    assert (finding.made, finding.values) == (False, ("nan",))
    assert finding.name.startswith("cpp_fused_")
    assert finding.kernel.node is None


def test_what_was_compiled_before_is_looked_at_and_left_as_it_was():
    compiled = torch.compile(root)
    x = torch.randn(8, 8)
    with torch.no_grad():
        compiled(x + 10)
        finding = found(lambda: compiled(x))
        again = found(lambda: compiled(x))
        assert compiled(x).isnan().any(), "nobody looks"
    assert finding.kernel.wrapper == again.kernel.wrapper
    assert again.name == finding.name


def test_patterns_choose_among_kernels_nodes_and_modules():
    assert of(root, op="*cos*") is None
    assert of(root, op="aten::*") is None
    assert of(root, op="sqrt").kernel.node == "sqrt"
    assert of(root, module="blocks.*") is None


def test_an_error_is_raised_out_of_the_compiled_call():
    with torch.no_grad(), pytest.raises(pyharness.NonFiniteError, match="sqrt in cpp_fused_"), pyharness.find_nan():
        torch.compile(root)(torch.randn(8, 8))
