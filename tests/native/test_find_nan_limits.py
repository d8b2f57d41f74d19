"""What find_nan takes for bad and what not, and where it looks."""

import pytest
import torch
from nan_search import found
from nan_sources import Blocks, Logarithm

import pyharness
from pyharness.model.errors import UsageError


def test_a_clean_program_has_none():
    model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU(), torch.nn.Linear(4, 1))

    def train():
        optimizer = torch.optim.Adam(model.parameters())
        for _ in range(3):
            optimizer.zero_grad()
            model(torch.randn(8, 4)).square().mean().backward()
            optimizer.step()

    assert found(train) is None


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
    torch.utils.deterministic.fill_uninitialized_memory = True  # type: ignore[attr-defined]
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
