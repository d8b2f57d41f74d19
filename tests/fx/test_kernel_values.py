"""The maps of inductor's kernels, by value: each mapped variable holds what its node is eagerly."""

import os
import shutil
import subprocess
import sys
from collections import defaultdict

import kernel_oracle
import pytest
import torch
from kernel_models import MODELS
from kernel_ops import FLOATS, OPS, tensors

from kit import inductor, rotation
from pyharness.model.kernel_map import KernelLine, KernelMap, KernelUse

pytestmark = pytest.mark.rotated_tests(turns=11)

COVERED = 0.95
"""The share of lines that compute, load, store or reduce which has to be mapped."""
BFLOAT16_DIFFERS = {"amax"}
"""Ops whose gradient torch takes from a number that it has rounded and one that it has not; eager mode rounds both."""
ALWAYS = {("mul_sum", "float32"), ("argmax", "int64")}
CASES = [
    pytest.param(name, dtype, marks=[rotation.always] if (name, dtype) in ALWAYS else [], id=f"{name}-{dtype}")
    for dtype, names in (("float32", OPS | FLOATS), ("bfloat16", OPS | FLOATS), ("int64", OPS))
    for name in names
]


@pytest.fixture(autouse=True)
def fresh(tmp_path, monkeypatch):
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", inductor.cache(tmp_path / "inductor"))
    torch._dynamo.reset()
    torch.manual_seed(0)


def check(verdict, capsys):
    with capsys.disabled():
        print(f"\n    {verdict}", end=" ")
    assert not verdict.wrong, "\n".join(verdict.wrong)
    assert verdict.checked
    assert verdict.coverage >= COVERED, "\n".join(verdict.unmapped)


@pytest.mark.rotated_tests(turns=1, number=0)  # a few of them in each turn
@pytest.mark.rotated(turns=72)
@pytest.mark.parametrize(("name", "dtype"), CASES)
def test_each_variable_of_an_op_holds_its_node(name, dtype, tmp_path, capsys):
    function, kind = (OPS | FLOATS)[name], getattr(torch, dtype)
    inputs = tensors(kind)
    wide = 3e-2 if kind == torch.bfloat16 else 1e-4
    with kernel_oracle.watched(tmp_path, rtol=wide, atol=wide) as verdict:
        differentiable = kind.is_floating_point and (name, dtype) not in {
            (each, "bfloat16") for each in BFLOAT16_DIFFERS
        }

        def called(*given):  # up to torch 2.10 a function of torch's alone is not compiled
            return function(*given)

        result = torch.compile(called)(*(each.requires_grad_(differentiable) for each in inputs))
        if result.requires_grad:
            (result.float() * torch.randn(result.shape)).sum().backward()
    check(verdict, capsys)


@pytest.mark.timeout(900)  # a ResNet-18 has forty kernels, a few seconds each to compile
@pytest.mark.rotated_tests(turns=21, number=0)  # forty seconds each
@pytest.mark.rotated
@pytest.mark.parametrize("name", MODELS)
def test_each_variable_of_a_model_holds_its_node_forward_and_backward(name, tmp_path, capsys):
    model, *inputs = MODELS[name]()
    with kernel_oracle.watched(tmp_path, rtol=1e-3, atol=1e-4) as verdict:
        torch.compile(model)(*inputs).pow(2).mean().backward()
    check(verdict, capsys)


def test_shapes_that_are_not_known_are_counted_by_their_own_names(tmp_path, capsys):
    with kernel_oracle.watched(tmp_path) as verdict:
        compiled = torch.compile(lambda x: (x.sin() + 1).softmax(-1).t().contiguous() * 2, dynamic=True)
        compiled(torch.randn(13, 37))
        compiled(torch.randn(19, 21))
    check(verdict, capsys)


def test_a_kernel_of_several_layers_has_a_map_for_each(tmp_path, capsys):
    with kernel_oracle.watched(tmp_path) as verdict:

        def layers(x, weight):
            for _ in range(3):
                x = torch.relu(x @ weight) + 1
            return x

        torch.compile(layers)(torch.randn(7, 7), torch.randn(7, 7))
    check(verdict, capsys)
    uses = defaultdict(list)
    for kernel in verdict.kernels:  # up to torch 2.9 each layer has a kernel of its own, with the same text
        uses[kernel.digest] += kernel.uses
    shared = max(uses.values(), key=len)
    assert len(shared) > 1
    assert shared[0].nodes != shared[1].nodes


def test_a_kernel_that_lays_out_what_a_function_of_torchs_takes_does_not_compute_that_ones_node(tmp_path):
    with kernel_oracle.watched(tmp_path) as verdict:
        model = torch.nn.Sequential(torch.nn.Conv2d(2, 3, 3), torch.nn.ReLU())
        torch.compile(model)(torch.randn(1, 2, 5, 5)).sum().backward()
    assert not verdict.wrong, "\n".join(verdict.wrong)
    computed = {name for kernel in verdict.kernels for use in kernel.uses for name in use.nodes}
    assert "where" in computed
    assert "convolution_backward" not in computed


def wrong(kernel):
    """The map with the values of two nodes exchanged."""
    names = list(dict.fromkeys(held.node for use in kernel.uses for line in use.lines for held in line.holds))
    other = dict(zip(names, names[1:] + names[:1], strict=True))

    def line(each):
        holds = tuple(type(held)(other[held.node], held.element) for held in each.holds)
        return KernelLine(**{**vars(each), "holds": holds})

    uses = (KernelUse(use.nodes, tuple(map(line, use.lines))) for use in kernel.uses)
    return KernelMap(kernel.name, kernel.digest, tuple(uses))


def test_the_oracle_finds_a_map_that_is_wrong(tmp_path):
    with kernel_oracle.watched(tmp_path, change=wrong) as verdict:
        torch.compile(lambda x: (x.sin() + 1).exp())(torch.randn(7, 7))
    assert len(verdict.wrong) >= 3


PROGRAM = """
import sys
sys.path[:0] = [{here!r}]
import torch, kernel_models
from torch._inductor import async_compile
async_compile.AsyncCompile.cpp_pybinding = lambda *_: lambda *_: None  # what was generated is all that is asked
if "follow" in sys.argv:
    from pyharness.fx.inductor import follow
    follow(lambda wrapper, maps: print("made"), lambda wrapper: None, sys.exit)
model, *inputs = kernel_models.MODELS["blocks"]()
torch.compile(model)(*inputs).sum().backward()
"""


def generated(tmp_path, *words):
    """Wrappers, with the text of their kernels, by name.

    The folder is the same each time: older versions of torch name it in what they generate.
    """
    folder = tmp_path / "generated"
    shutil.rmtree(folder, ignore_errors=True)
    here = kernel_oracle.__file__.rpartition("/")[0]
    command = [sys.executable, "-c", PROGRAM.format(here=here), *words]
    env = {**os.environ, "TORCHINDUCTOR_CACHE_DIR": inductor.cache(folder)}
    said = subprocess.run(command, check=True, capture_output=True, text=True, env=env, cwd=tmp_path).stdout
    assert said.count("made") == 2 * len(words)
    found = [each for each in folder.rglob("*.py") if "cpp_fused" in each.read_text()]
    return {str(each.relative_to(folder)): each.read_text() for each in found}


def test_what_torch_generates_is_the_same_to_the_byte(tmp_path):
    alone = generated(tmp_path)
    assert len(alone) == 2
    assert generated(tmp_path, "follow") == alone
