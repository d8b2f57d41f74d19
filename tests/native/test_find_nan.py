"""find_nan names the first op or node, its line and its module, wherever the bad value is made."""

import gc
import json
import sys
import weakref

import nan_sources
import pytest
import torch
from nan_sources import Blocks, Checkpointed, Logarithm, PythonRoot, Root, line_of

import pyharness
from pyharness.model.errors import HarnessError, UsageError
from pyharness.model.finding import NonFiniteError
from pyharness.model.finding_text import finding_lines


def found(run, **options):
    """The finding of a search around ``run``, which goes on to its end."""
    findings = []
    with pyharness.find_nan(action=findings.append, **options) as search:
        run()
    assert search.finding is (findings[0] if findings else None)
    assert len(findings) <= 1
    return search.finding


def at(name):
    return nan_sources.__file__, line_of(name)


def origin(finding):
    return finding.origin.file, finding.origin.line


def test_a_clean_program_has_none():
    model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU(), torch.nn.Linear(4, 1))

    def train():
        optimizer = torch.optim.Adam(model.parameters())
        for _ in range(3):
            optimizer.zero_grad()
            model(torch.randn(8, 4)).square().mean().backward()
            optimizer.step()

    assert found(train) is None


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
    assert any(call.function == "test_zero_times_infinity_in_backward_only.<locals>.run" for call in finding.calls)
    natives = [frame.function for frame in finding.stack if frame.language == "native"]
    assert any("Engine::execute" in function for function in natives)
    assert finding.graph_task is not None


def test_overflow_in_bfloat16():
    finding = found(nan_sources.overflow)
    assert (finding.name, finding.values) == ("aten::add", ("inf",))
    assert origin(finding) == at("overflow")
    assert finding.outputs[0].statistics.positive_infinity == 31
    assert found(nan_sources.overflow, values=("nan",)) is None


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


def test_inside_of_transforms_and_of_modes():
    from torch.utils._debug_mode import DebugMode

    x = torch.tensor([[1.0], [-1.0]])
    batched = found(lambda: torch.func.vmap(nan_sources.logarithm)(x))
    assert (batched.name, origin(batched)) == ("aten::log", at("plain-log"))
    differentiated = found(lambda: torch.func.grad(lambda x: nan_sources.logarithm(x).sum())(x))
    assert (differentiated.name, origin(differentiated)) == ("aten::log", at("plain-log"))
    with DebugMode():
        shown = found(lambda: nan_sources.logarithm(x))
    assert (shown.name, origin(shown)) == ("aten::log", at("plain-log"))


def test_memory_that_was_taken_away_is_not_read():
    x = torch.randn(1 << 20)

    def run():
        x.untyped_storage().resize_(0)
        x.detach()
        torch.ops.aten.view.default(x, [-1])

    assert found(run) is None
    x.untyped_storage().resize_(4 << 20)


def test_what_the_program_asks_for_is_not_bad():
    inf = float("inf")

    def run():
        scores = torch.randn(2, 4, 4)
        mask = torch.full((4, 4), -inf).triu(1)
        torch.softmax(scores + mask, -1).sum()
        torch.softmax(scores.masked_fill(torch.ones(4, 4).tril() == 0, -inf), -1).sum()
        torch.where(scores > 0, scores, torch.tensor(-inf)).max()
        torch.full((3,), float("nan"))
        torch.zeros(3).fill_(inf)
        torch.nn.functional.max_pool1d(scores, 2)
        torch.logsumexp(torch.full((3,), -inf), 0)

    assert found(run) is None


def test_memory_that_nobody_wrote_is_not_bad():
    torch.utils.deterministic.fill_uninitialized_memory = True
    torch.use_deterministic_algorithms(mode=True)  # torch fills it with NaN
    try:
        assert torch.empty(3).isnan().all()

        def run():
            x = torch.empty(4)
            x.copy_(torch.ones(4))
            torch.empty_like(x).fill_(1)
            torch.nn.init.uniform_(torch.empty(2, 2))
            x.new_empty(3)
            torch.ones(2).resize_(8)

        assert found(run) is None
    finally:
        torch.use_deterministic_algorithms(mode=False)


def test_what_an_op_makes_and_mends_is_not_bad():
    query = torch.randn(1, 1, 3, 4)
    mask = torch.tensor([[True, False, False], [False, False, False], [True, True, True]])

    def run():
        with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH):
            torch.nn.functional.scaled_dot_product_attention(query, query, query, attn_mask=mask)
        torch.ones(3, requires_grad=True).mul(0).norm().backward()

    assert found(run) is None


def test_a_nan_that_was_there_before_is_received():
    data = torch.tensor([1.0, float("nan")])
    finding = found(lambda: data.clone().view(1, 2) * 2)
    assert (finding.name, finding.made) == ("aten::mul", False)
    assert finding.inputs[0].bad == ("nan",)


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


def test_limits_and_denormals():
    def run():
        torch.full((3,), 50.0).square().mul(1e-42)

    assert found(run) is None
    assert found(run, limit=3000) is None
    large = found(run, limit=100)
    assert (large.values, large.outputs[0].statistics.large) == (("large",), 3)
    small = found(run, denormals=True)
    assert (small.values, small.outputs[0].statistics.denormal) == (("denormal",), 3)


def test_scopes():
    x = torch.tensor([-1.0])

    def run():
        x.sqrt()
        Blocks(Logarithm())(x)

    assert found(run).name == "aten::sqrt"
    assert found(run, op="*log*").name == "aten::log"
    assert found(run, module="blocks.1*").name == "aten::log"
    assert found(run, module="blocks.2*").made is False
    assert found(run, module="blocks.0*") is None


def test_raised_at_the_line_of_a_call():
    with pytest.raises(NonFiniteError) as caught, pyharness.find_nan():
        pytest.fail(f"went on: {Blocks(Logarithm())(torch.tensor([-1.0]))}")
    assert (str(caught.traceback[-1].path), caught.traceback[-1].lineno + 1) == at("log")
    assert caught.value.finding.name == "aten::log"
    assert isinstance(caught.value, RuntimeError)
    assert isinstance(caught.value, HarnessError)


def test_raised_from_backward():
    x = torch.tensor([1.0, 0.0], requires_grad=True)
    with pytest.raises(NonFiniteError, match="SqrtBackward0"), pyharness.find_nan(values=("nan",)):
        pytest.fail(f"went on: {Root()(x).sum().backward()}")
    assert x.grad is None


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="Python 3.12 raises it after the next call")
def test_raised_at_the_line_of_an_operator():
    with pytest.raises(NonFiniteError, match="aten::div") as caught, pyharness.find_nan():
        nan_sources.operator()
    assert (str(caught.traceback[-1].path), caught.traceback[-1].lineno + 1) == at("operator")


def test_raised_in_the_last_line_of_the_block():
    x = torch.zeros(1)
    with pytest.raises(NonFiniteError, match="aten::div"), pyharness.find_nan():
        x / x


@pytest.mark.parametrize("how", ["returned", "several_lines", "handled", "in_a_generator", "nested_with"])
def test_raised_where_the_line_is_the_last_of_a_block(how):
    """Python looks for handlers by the next instruction, which may be outside of the block."""
    with pytest.raises(NonFiniteError, match="aten::div") as caught:
        getattr(nan_sources, f"last_{how}")()
    assert origin(caught.value.finding) == at(f"last-{how}")
    if how != "returned":  # there the block raises it
        assert at(f"last-{how}") in [(str(entry.path), entry.lineno + 1) for entry in caught.traceback]
    with pyharness.find_nan(action="report") as search:  # the one before has ended
        torch.ones(1).log()
    assert search.finding is None


def test_a_trace_function_stays():
    lines = []

    def trace(frame, event, _argument):
        lines.append((event, frame.f_lineno))
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        with pytest.raises(NonFiniteError), pyharness.find_nan():
            nan_sources.operator()
        assert sys.gettrace() is trace
    finally:
        sys.settrace(before)
    assert ("exception", line_of("operator")) in lines


def test_a_thread_that_found_it_raises_and_so_does_the_search():
    errors = []
    with pytest.raises(NonFiniteError, match="aten::log"), pyharness.find_nan():
        nan_sources.in_worker(errors)
    assert [type(error).__name__ for error in errors] == ["NonFiniteError"]


def test_an_error_of_the_programs_stays_its_own():
    with pytest.raises(KeyError), pyharness.find_nan(action="report"):
        {}[torch.tensor([-1.0]).log()]


def test_reported_to_stderr(capfd):
    with pyharness.find_nan(action="report"):
        torch.tensor([-1.0]).log()
        torch.tensor([-1.0]).sqrt()
    report = capfd.readouterr().err
    assert report.count("The first NaN was made by aten::log") == 1
    assert "sqrt" not in report


def test_a_stop_without_a_debugger_is_told(capfd, monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    with pyharness.find_nan(action="stop"):
        nan_sources.logarithm(torch.tensor([-1.0]))
    report, _, told = capfd.readouterr().err.rpartition("\npyharness: ")
    assert "The first NaN was made by aten::log" in report
    assert f"nan_sources.py:{line_of('plain-log')} in logarithm" in told


def test_one_search_at_a_time_and_then_another():
    with pyharness.find_nan():
        with pytest.raises(HarnessError, match="already"), pyharness.find_nan():
            pass
        torch.ones(1).log()
    with pyharness.find_nan(action="report") as search:
        pass
    assert search.finding is None


def test_nothing_is_kept_alive():
    x = torch.tensor([-1.0], requires_grad=True)
    with pyharness.find_nan(action=lambda _: None) as search:
        y = x.log()
        y.backward()
    gone = weakref.ref(y)
    del y
    gc.collect()
    assert search.finding is not None
    assert gone() is None


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"action": "rase"}, "Did you mean raise"),
        ({"values": ("nann",)}, "Did you mean nan"),
        ({"values": "nan"}, r"values=\('nan',\)"),
        ({"values": ()}, "looks for nothing"),
        ({"limit": -1}, "must be positive"),
        ({"module": 3}, "pattern"),
    ],
)
def test_bad_options_are_one_clear_error(options, complaint):
    with pytest.raises((UsageError, TypeError), match=complaint):
        pyharness.find_nan(**options)
