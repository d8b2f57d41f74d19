"""Recording while many threads run, start, stop and fail: nothing crashes, and no count is lost.

Run under the thread sanitizer by ``make tsan-test``; ``PYHARNESS_STRESS`` multiplies the work (``make stress-test``).
"""

import os
import threading
from collections import Counter

import pytest
import torch

import pyharness

MORE = int(os.environ.get("PYHARNESS_STRESS", "1"))
THREADS = 8


@pytest.fixture(autouse=True)
def one_thread_each():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def together(works):
    """Run each of ``works`` in a thread of its own, all at once; their kernel ids."""
    barrier, errors = threading.Barrier(len(works)), []

    def run(work):
        try:
            barrier.wait()
            work()
        except BaseException as error:  # noqa: BLE001  (told to the test)
            errors.append(error)

    threads = [threading.Thread(target=run, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    ids = [thread.native_id for thread in threads]
    for thread in threads:
        thread.join()
    assert errors == []
    return ids


def negate(times):
    """One op each."""
    x = torch.ones(2)
    for _ in range(times):
        x.neg()


def train(times):
    """One op, and two nodes in a run of the engine each."""
    x, ones = torch.ones(2, requires_grad=True), torch.ones(2)
    for _ in range(times):
        x.neg().backward(ones)


def fail_in_hooks(times):
    """As ``train``, but the hook of every second pass raises."""
    x, ones = torch.ones(2, requires_grad=True), torch.ones(2)

    def fail(_grads):
        raise ValueError("on purpose")

    for number in range(times):
        y = x.neg()
        if number % 2:
            y.grad_fn.register_prehook(fail)
        try:
            y.backward(ones)
        except ValueError:
            assert number % 2


def test_eight_threads_at_once_lose_nothing():
    times = 500 * MORE
    with pyharness.record() as recording:
        ids = together([lambda: train(times)] * THREADS)
    trace = recording.trace
    assert trace.lost == 0
    counts = Counter((event.thread, event.name) for event in trace.events if event.thread in ids)
    wanted = ("aten::neg", "NegBackward0", "torch::autograd::AccumulateGrad")
    assert {key: counts[key] for key in counts if key[1] in wanted} == {
        (thread, name): times for thread in ids for name in wanted
    }
    own = {event.number: event.thread for event in trace.events}
    nodes = [event for event in trace.nodes if event.name == "NegBackward0"]
    assert all(own[event.forward] == event.thread for event in nodes)
    assert len({event.forward for event in nodes}) == len(nodes)
    assert Counter(task.nodes for task in trace.graph_tasks) == {2: times * THREADS}


def test_what_is_kept_and_what_is_lost_is_all_that_ran():
    times, capacity = 20_000 * MORE, 1 << 12
    with pyharness.record(capacity=capacity) as recording:
        ids = together([lambda: negate(times)] * THREADS)
    trace = recording.trace
    kept = Counter(event.thread for event in trace.events if event.thread in ids)
    assert set(kept.values()) == {capacity}
    assert len(trace.events) + trace.lost == recording.count
    ones = THREADS  # each thread makes its own tensor: an op, and those inside of it
    assert recording.count - THREADS * times in range(ones, 8 * ones)
    assert {event.name for event in trace.events if event.thread in ids} == {"aten::neg"}


def test_recordings_that_start_and_stop_while_ops_run():
    """One that goes on meanwhile misses nothing, and each is told what ran in its time, whole."""
    times, going = 2_000 * MORE, threading.Event()
    recordings = []

    def start_and_stop():
        while not going.is_set():
            with pyharness.record(capacity=1 << 10) as inner:
                pass
            recordings.append(inner)

    def run():
        train(times)

    with pyharness.record(capacity=8 * times) as outer:
        starters = [threading.Thread(target=start_and_stop) for _ in range(2)]
        for starter in starters:
            starter.start()
        ids = together([run] * 4)
        going.set()
        for starter in starters:
            starter.join()
    assert outer.trace.lost == 0
    counts = Counter((event.thread, event.name) for event in outer.trace.events if event.thread in ids)
    assert {counts[thread, "aten::neg"] for thread in ids} == {times}
    assert {counts[thread, "NegBackward0"] for thread in ids} == {times}
    assert len(recordings) > 2
    for inner in recordings:
        for event in inner.trace.events:
            assert event.parent is None or inner.trace.events[event.parent].thread == event.thread


def test_recordings_of_other_things_that_start_and_stop_while_ops_run():
    """What is observed changes each time: nothing crashes, and what is recorded is well formed."""
    kinds = [
        {"backward": False},
        {"forward": False},
        {"shapes": True},
        {"inner_ops": True},
        {"memory": True, "capacity": 8},
    ]
    done, recordings = threading.Event(), []

    def start_and_stop(number):
        while not done.is_set():
            kind = kinds[(len(recordings) + number) % len(kinds)]
            with pyharness.record(**kind) as inner:
                inner.count  # noqa: B018
            recordings.append(inner)

    starters = [threading.Thread(target=start_and_stop, args=(number,)) for number in range(2)]
    for starter in starters:
        starter.start()
    together([lambda: train(1_000 * MORE)] * 3 + [lambda: fail_in_hooks(1_000 * MORE)])
    done.set()
    for starter in starters:
        starter.join()
    assert len(recordings) > len(kinds)
    for inner in recordings:
        assert all(event.duration >= 0 and event.name for event in inner.trace.events)


def test_hooks_that_raise_leave_the_counts_right():
    times = 300 * MORE
    with pyharness.record() as recording:
        ids = together([lambda: fail_in_hooks(times)] * THREADS)
    trace = recording.trace
    counts = Counter((event.thread, event.name) for event in trace.nodes)
    assert {counts[thread, "NegBackward0"] for thread in ids} == {times}
    assert {counts[thread, "torch::autograd::AccumulateGrad"] for thread in ids} == {times // 2}
    assert {(event.depth, event.reentrant) for event in trace.nodes} == {(0, 1)}
    assert trace.lost == 0


def test_one_graph_that_many_threads_run_at_once():
    x = torch.ones(4, requires_grad=True)
    loss = x.exp().sin().sum()
    times = 100 * MORE

    def run():
        for _ in range(times):
            torch.autograd.grad(loss, x, retain_graph=True)

    with pyharness.record() as recording:
        again = x.exp().sum()
        ids = together([run] * THREADS)
        again.backward()
    trace = recording.trace
    counts = Counter((event.thread, event.name) for event in trace.nodes if event.thread in ids)
    assert {counts[thread, name] for thread in ids for name in ("ExpBackward0", "SinBackward0")} == {times}
    before = [event for event in trace.nodes if event.name == "SinBackward0"]
    assert all(event.forward is None and event.stack == () for event in before)
    last = trace.nodes[-2]
    assert (last.name, trace.events[last.forward].name) == ("ExpBackward0", "aten::exp")


def test_threads_that_end_before_the_recording_keep_their_events():
    with pyharness.record() as recording:
        ids = [together([lambda: negate(10)])[0] for _ in range(50)]
    counts = Counter(event.thread for event in recording.trace.ops if event.name == "aten::neg")
    assert sum(counts.values()) == 500
    assert set(ids) == set(counts)
