"""``verify_compiled``: wrong code of inductor's is found at its kernel, line, node and element; right code never is."""

import re
import subprocess
import sys
from pathlib import Path

import planted_kernels
import pytest
import torch
from kernel_models import MODELS
from planted_kernels import PLANTS, SIZE, Backward

from kit import inductor, rotation
from pyharness.fx import verify_compiled
from pyharness.model.errors import HarnessError

pytestmark = pytest.mark.rotated_tests(turns=11)

ALWAYS = {("tail", "inference"), ("arguments", "backward")}


@pytest.fixture(autouse=True)
def fresh(tmp_path, monkeypatch):
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", inductor.cache(tmp_path / "inductor"))
    monkeypatch.setenv("PYHARNESS_HOME", str(tmp_path / "home"))
    torch._dynamo.reset()
    torch.manual_seed(0)


def inputs():
    return torch.randn(SIZE, SIZE), torch.randn(SIZE, SIZE)


def found(name, kind, monkeypatch, **options):
    plant, function, node = PLANTS[name]
    plant(monkeypatch, kind)
    run = (lambda x, y: Backward.apply(x, y, function)) if kind == "backward" else function
    verdict = verify_compiled(run, inputs(), gradients=kind == "backward", **options)
    return verdict, node


@pytest.mark.rotated_tests(turns=1, number=0)  # a few of them in each turn
@pytest.mark.rotated(turns=18)
@pytest.mark.parametrize(
    ("name", "kind"),
    [
        pytest.param(name, kind, marks=[rotation.always] if (name, kind) in ALWAYS else [])
        for name in PLANTS
        for kind in ("inference", "backward")
    ],
)
def test_a_planted_miscompilation_is_found_at_its_node(name, kind, monkeypatch):
    verdict, node = found(name, kind, monkeypatch, script=False)
    assert not verdict.ok
    assert verdict.first.graph == kind
    assert re.fullmatch(rf"({node})(_\d+)?", verdict.first.node), str(verdict)
    assert verdict.first.origin_file == planted_kernels.__file__
    assert verdict.first.expected != verdict.first.actual
    assert verdict.gradients if kind == "backward" else verdict.outputs


def test_the_line_and_the_element_are_those_that_are_wrong(monkeypatch):
    verdict, _ = found("dropped", "inference", monkeypatch, script=False)
    fault = verdict.first
    assert fault.kernel == "cpp_fused_add_cos_exp_sin_0"
    line = Path(fault.file).read_text().split("\n")[fault.line - 1].strip()
    assert line == fault.text == "auto tmp2 = tmp1;"
    torch.manual_seed(0)
    wanted = inputs()[0].sin()[fault.element]
    assert fault.expected == pytest.approx(float(wanted.exp()), rel=1e-6)
    assert fault.actual == pytest.approx(float(wanted), rel=1e-6)
    assert fault.wrapper_text.startswith("cpp_fused_add_cos_exp_sin_0(")
    assert fault.difference.sizes.count == SIZE * SIZE, "the tail's lines compute the same value"


def test_each_fault_is_told_with_its_reason(monkeypatch):
    stale, _ = found("stale", "inference", monkeypatch, script=False)
    assert stale.first.kind == "stale"
    assert re.search(
        r"it writes buf\d where buf\d is, which it reads|it reads buf2, which no longer holds mm_1", stale.first.reason
    )
    assert {"it reads buf3, which no longer holds mm_2: it was overwritten before"} & {x.reason for x in stale.others}


def test_buffers_that_the_wrapper_exchanges_are_named(monkeypatch):
    verdict, _ = found("arguments", "inference", monkeypatch, script=False)
    assert verdict.first.reason == "it reads arg0_1 from in_ptr0, and the wrapper passes arg1_1"


def test_what_is_computed_and_not_stored_is_told_at_the_line_that_stores(monkeypatch):
    verdict, _ = found("tail", "inference", monkeypatch, script=False)
    assert verdict.first.kind == "store"
    assert ".store(out_ptr0" in verdict.first.text
    assert verdict.first.element == (SIZE - 1, SIZE - 1)


def test_the_script_fails_by_itself_and_not_with_the_right_code(monkeypatch, tmp_path):
    verdict, _ = found("dropped", "inference", monkeypatch, folder=tmp_path / "wrong")
    assert verdict.script.fails, verdict.script.said
    cpp = re.search(r"--at (\S+\.cpp):(\d+)", verdict.script.step)
    assert Path(cpp[1]).read_text().split("\n")[int(cpp[2]) - 1].strip() == verdict.first.text
    wrapper = tmp_path / "wrong" / "wrapper.py"
    text = wrapper.read_text()
    wrapper.write_text(text.replace("auto tmp2 = tmp1;", "auto tmp2 = tmp1.exp();"))
    ran = subprocess.run([sys.executable, verdict.script.script], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout) == (0, "It does not fail: all results are right.\n"), ran.stderr


@pytest.mark.timeout(900)  # a ResNet-18 has forty kernels, a few seconds each to compile
@pytest.mark.rotated(turns=36)
@pytest.mark.parametrize(
    ("name", "dtype"),
    [
        pytest.param(name, dtype, marks=[rotation.always] if (name, dtype) == ("blocks", torch.float32) else [])
        for name in MODELS
        for dtype in (torch.float32, torch.bfloat16)
    ],
)
def test_right_code_is_not_said_to_be_wrong(name, dtype):
    model, *given = MODELS[name]()
    given = tuple(each.to(dtype) if each.is_floating_point() else each for each in given)
    verdict = verify_compiled(model.to(dtype), given, gradients=True)
    assert verdict.ok, str(verdict)
    assert verdict.kernels
    assert verdict.nodes > verdict.kernels


def test_a_comparison_that_rounding_turns_is_named_and_said_to_be_that():
    """inductor compares the sum before it is rounded with the greatest, which is rounded; eager mode rounds both."""
    x, y = (torch.randn(40, 35, dtype=torch.bfloat16).requires_grad_() for _ in range(2))
    verdict = verify_compiled(lambda x, y: (x + y).amax(-1, keepdim=True) + x, (x, y), gradients=True)
    assert verdict.gradients
    assert (verdict.first.kind, verdict.first.node) == ("rounding", "eq"), str(verdict)
    assert "only rounding makes differ" in str(verdict)
    assert (verdict.first.expected, verdict.first.actual) == (True, False)


def test_a_sum_in_another_order_is_no_error():
    x = torch.randn(100_000) * 1e3
    assert verify_compiled(lambda x: (x * 1.5).sum(), (x,)).ok


def test_a_wrong_sum_of_the_same_numbers_is_an_error(monkeypatch):
    init = PLANTS["init"][0]
    init(monkeypatch, "inference")
    verdict = verify_compiled(lambda x: (x * 1.5).sum(), (torch.randn(1000),), script=False)
    assert verdict.first.node == "sum_1"


def test_the_model_and_random_numbers_are_as_before():
    model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.BatchNorm1d(8), torch.nn.Dropout(0.5))
    before = {name: each.clone() for name, each in model.state_dict().items()}
    numbers = torch.get_rng_state()
    verdict = verify_compiled(model, (torch.randn(6, 8, generator=torch.Generator()),), gradients=True)
    assert verdict.ok, str(verdict)
    assert torch.equal(numbers, torch.get_rng_state())
    assert all(torch.equal(each, before[name]) for name, each in model.state_dict().items())


def test_calls_of_torchs_own_functions_alone_are_compared_too():
    verdict = verify_compiled(lambda x, y: x @ y, inputs())
    assert verdict.ok
    assert (verdict.kernels, verdict.nodes) == (0, 1)


def test_what_a_kernel_need_not_store_is_not_missed():
    """torch fuses a check of its own with what it checks, and leaves out the store that nobody reads."""
    x = torch.randint(0, 7, (40, 35))
    verdict = verify_compiled(lambda x: torch.nn.functional.one_hot(x % 7, 7).sum(0) + 1, (x,))
    assert verdict.ok, str(verdict)


def test_what_dynamo_leaves_out_it_leaves_out_of_no_later_call():
    """Dynamo remembers the call of any module as one that it cannot compile, in a program and in a verification."""
    lstm, linear, x = torch.nn.LSTM(4, 5), torch.nn.Sequential(torch.nn.Linear(4, 2)), torch.randn(6, 2, 4)
    with pytest.raises(HarnessError, match=r"it leaves out recurrent layers, and what calls them \(LSTM\)"):
        verify_compiled(lstm, (x,))
    graphs = []
    torch.compile(linear, backend=lambda module, _: graphs.append(module) or module.forward)(x)
    assert len(graphs) == 1
    torch.compile(lstm, backend="eager")(x)
    assert verify_compiled(linear, (x,)).ok
