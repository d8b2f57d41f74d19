"""Values that an op has before it begins: in memory that it writes to, as a number, in ``.grad``."""

import pickle

import pytest
import torch
from nan_search import found

import pyharness
from pyharness.model.results.finding import NonFiniteError

INF, NAN = float("inf"), float("nan")


@pytest.mark.parametrize(
    "run",
    [
        lambda x: x.div_(x),
        lambda x: x.div_(x[:]),
        lambda x: torch.complex(x, x).imag.div_(torch.zeros(4)),
        lambda x: torch.div(x, x, out=x),
    ],
    ids=["itself", "a view", "a part", "out"],
)
def test_a_value_written_over_an_input_was_made(run):
    finding = found(lambda: run(torch.zeros(4)))
    assert (finding.made, finding.name) == (True, finding.name)
    assert finding.name in {"aten::div_", "aten::div"}


def test_a_value_that_was_in_memory_that_is_written_was_received():
    x = torch.full((4,), NAN)
    finding = found(lambda: x.mul_(x))
    assert (finding.made, finding.name) == (False, "aten::mul_")


@pytest.mark.parametrize(
    ("run", "name", "argument"),
    [
        (lambda x: x.add_(torch.ones(3), alpha=NAN), "aten::add_", "alpha"),
        (lambda x: torch.addcdiv(x, x, x, value=NAN), "aten::addcdiv", "value"),
        (lambda x: torch.lerp(x, x, NAN), "aten::lerp", "weight"),
    ],
    ids=["alpha", "value", "weight"],
)
def test_a_number_that_is_none_was_received(run, name, argument):
    finding = found(lambda: run(torch.ones(3)))
    assert (finding.made, finding.why) == (False, f"its argument {argument}")
    assert name in {finding.name, *finding.within}


def test_numbers_of_a_list():
    assert not found(lambda: torch._foreach_mul([torch.ones(3)], [NAN])).made


def test_a_learning_rate():
    weights = torch.ones(2, requires_grad=True)
    optimizer = torch.optim.SGD([weights], lr=NAN)
    weights.sum().backward()
    assert found(optimizer.step).why == "its argument alpha"


@pytest.mark.parametrize(
    "run",
    [
        lambda x: torch.where(x > 0, x, NAN),
        lambda x: x.masked_fill(x > 0, NAN),
        lambda x: torch.nn.functional.pad(x, (1, 1), value=NAN),
        lambda x: x.scatter(0, torch.tensor([0]), NAN),
        lambda x: x.new_full((2,), NAN),
        lambda x: torch.nan_to_num(x.new_full((3,), INF), posinf=INF),
    ],
    ids=["where", "masked_fill", "pad", "scatter", "new_full", "nan_to_num"],
)
def test_a_number_that_is_placed_was_asked_for(run):
    assert found(lambda: run(torch.ones(3))) is None


def test_a_gradient_that_was_bad_before_the_backward():
    x = torch.ones(2, requires_grad=True)
    x.grad = torch.full((2,), NAN)
    finding = found(lambda: (x * 2).sum().backward())
    assert (finding.made, finding.why) == (False, "in .grad before")
    assert finding.name == "torch::autograd::AccumulateGrad"


def test_gradients_whose_sum_is_none():
    x = torch.ones(2, requires_grad=True)
    x.grad = torch.full((2,), 3e38)
    finding = found(lambda: (x * 1).backward(torch.full((2,), 3e38)))
    assert (finding.made, finding.name) == (True, "torch::autograd::AccumulateGrad")


def raised():
    with pytest.raises(NonFiniteError) as caught, pyharness.find_nan():
        torch.zeros(2) / torch.zeros(2)
    return caught.value


def test_the_error_goes_to_another_process_with_its_finding():
    error = raised()
    again = pickle.loads(pickle.dumps(error))  # noqa: S301
    assert (type(again), str(again), again.finding) == (NonFiniteError, str(error), error.finding)
    assert pickle.loads(pickle.dumps(type(error))) is NonFiniteError  # noqa: S301


class Zeros(torch.utils.data.Dataset):
    def __len__(self):
        return 2

    def __getitem__(self, index):
        return torch.zeros(1) / torch.zeros(1)


def test_a_worker_of_a_data_loader_hands_it_on():
    with (
        pyharness.find_nan(),
        pytest.raises(NonFiniteError, match=r"in DataLoader worker(.|\n)*aten::div made") as caught,
    ):
        list(torch.utils.data.DataLoader(Zeros(), num_workers=1, multiprocessing_context="fork"))
    assert caught.value.finding is None
