"""Recordings of one process become one trace: each at its time, none twice."""

from synthetic import training

from pyharness.model.results.trace import Trace
from pyharness.model.results.trace_joined import Part, joined


def test_two_recordings_one_after_the_other():
    first, second = training(50), training(100)
    trace = joined([Part(5_000_000, 9_000_000, second), Part(1_000_000, 4_000_000, first)])
    assert len(trace.events) == len(first.events) + len(second.events)
    assert [event.number for event in trace.events] == list(range(len(trace.events)))
    for event, before in zip(trace.events[len(first.events) :], second.events, strict=True):
        assert event.start == before.start + 4_000_000
        assert event.name == before.name
        if before.forward is not None:
            assert trace.events[event.forward].name == second.events[before.forward].name
            assert event.forward >= len(first.events)
    assert trace.graph_tasks[-1].start == second.graph_tasks[-1].start + 4_000_000
    assert trace.program == "train.py"


def test_a_recording_within_another_is_in_it_already():
    outer, inner = training(100), training(50)
    assert joined([Part(10, 90, outer), Part(20, 30, inner), Part(40, 95, inner)]) == outer


def test_no_recording_at_all():
    assert joined([]) == Trace((), (), 0)
