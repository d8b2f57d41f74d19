"""A search sees every thread, and begins and ends while they run."""

import threading

import torch
from nan_sources import Blocks, Logarithm, Root

import pyharness


def in_threads(work, count=8):
    """Run ``work(number)`` in threads that begin together; what they raised."""
    errors = []
    barrier = threading.Barrier(count)

    def run(number):
        barrier.wait()
        try:
            work(number)
        except BaseException as error:  # noqa: BLE001  (told by the test)
            errors.append(error)

    threads = [threading.Thread(target=run, args=(number,), name=f"t{number}") for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return errors


def train(steps, bad=None):
    model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))
    for _ in range(steps):
        model(torch.randn(4, 8)).square().mean().backward()
    if bad is not None:
        bad()


def test_one_thread_of_eight_makes_it():
    def work(number):
        train(20, (lambda: Blocks(Logarithm())(torch.tensor([-1.0]))) if number == 5 else None)

    with pyharness.find_nan(action=lambda _: None) as search:
        assert in_threads(work) == []
    assert search.finding.name == "aten::log"
    assert search.finding.thread_name == "t5"
    assert search.finding.module == "blocks.1.inner"


def test_all_make_one_and_one_is_first():
    findings = []

    def work(_number):
        Root()(torch.tensor([0.0], requires_grad=True)).sum().backward()

    with pyharness.find_nan(action=findings.append, values=("nan",)) as search:
        assert in_threads(work) == []
    assert findings == [search.finding]
    assert search.finding.name == "SqrtBackward0"


def test_searches_begin_and_end_while_ops_run():
    over = threading.Event()

    def work(number):
        if number:
            while not over.is_set():
                train(1)
            return
        try:
            for _ in range(100):
                with pyharness.find_nan() as search:
                    train(1)
                assert search.finding is None
        finally:
            over.set()

    assert in_threads(work, 4) == []


def test_a_thread_without_python_tells_one_that_has_it():
    @torch.jit.script
    def work(x):
        return torch.log(x) * 2

    @torch.jit.script
    def forked(x):
        return torch.jit.wait(torch.jit.fork(work, x))

    forked(torch.ones(1))
    told = threading.Event()
    with pyharness.find_nan(action=lambda _: told.set()) as search:
        forked(torch.tensor([-1.0]))
    assert told.is_set()
    assert search.finding.thread != threading.get_native_id()
    assert search.finding.name == "aten::log"


def test_a_rejected_finding_does_not_end_the_search():
    with pyharness.find_nan(action=lambda _: None, op="aten::sqrt") as search:
        for _ in range(50):
            torch.tensor([-1.0]).log()
        torch.tensor([-1.0]).sqrt()
    assert search.finding.name == "aten::sqrt"
