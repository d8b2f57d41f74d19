"""Recordings of the ranks of a job become one trace, and say for whom the others wait."""

from dataclasses import replace

import pytest
from synthetic import Maker, stack_of, training

from pyharness.model.errors import UsageError
from pyharness.model.results.trace_of_ranks import merged
from pyharness.report import perfetto, tables
from pyharness.report.collectives import waits_of
from pyharness.report.page_data import page_data

REDUCE = "c10d::allreduce_"


def of_rank(rank, starts, *, begun=0, host="here", names=(REDUCE,) * 9):
    """A rank that comes to collectives then, of which each takes ten."""
    maker = Maker()
    for start, name in zip(starts, names, strict=False):
        maker.add(name, 10, stack=stack_of("", 9), start=start, reentrant=int(rank == 9))
    return maker.trace(rank=rank, begun=begun, host=host)


def test_all_events_are_on_one_axis_and_keep_what_they_are_in():
    first, second = training(60), training(90)
    trace = merged([replace(second, rank=1, begun=7_000), replace(first, rank=0, begun=2_000)])
    assert [event.number for event in trace.events] == list(range(len(first.events) + len(second.events)))
    assert [event.start for event in trace.events] == sorted(event.start for event in trace.events)
    for rank, of_one, later in ((0, first, 0), (1, second, 5_000)):
        mine = [event for event in trace.events if trace.ranks[event.thread] == rank]
        for event, before in zip(mine, of_one.events, strict=True):
            assert (event.name, event.start) == (before.name, before.start + later)
            for now, then in ((event.parent, before.parent), (event.forward, before.forward)):
                assert (now is None) == (then is None)
                assert now is None or trace.events[now] == mine[then]
    assert set(trace.threads.values()) == {"rank 0 thread 1", "rank 1 thread 1"}
    assert (trace.program, trace.begun) == ("train.py, ranks 0-1", 2_000)


def test_what_does_not_belong_together_is_refused():
    with pytest.raises(UsageError, match="Two recordings are of rank 1"):
        merged([of_rank(1, [0]), of_rank(1, [0])])
    with pytest.raises(UsageError, match="of no rank of a job"):
        merged([of_rank(None, [0]), of_rank(1, [0])])
    with pytest.raises(UsageError, match="of several runs"):
        merged([replace(of_rank(0, [0]), run="one"), replace(of_rank(1, [0]), run="another")])


def test_the_rank_that_comes_last_is_waited_for():
    trace = merged([of_rank(0, [0, 100, 200]), of_rank(1, [5, 100, 200], begun=30), of_rank(2, [0, 100, 240])])
    ((waits,), left_out) = waits_of(trace)
    assert (waits.name, waits.count, waits.total, waits.longest) == (REDUCE, 3, 35 + 30 + 40, 40)
    assert waits.blamed == "rank 1 (61.9%)"
    assert left_out == ""
    lines = [line.text for line in tables.lines(trace, tables.Manner())]
    assert any(line.split()[:2] == [REDUCE, "3"] and line.endswith("rank 1 (61.9%)") for line in lines)


def test_what_cannot_be_compared_is_said():
    ((waits,), left_out) = waits_of(merged([of_rank(0, [0, 9, 20]), of_rank(1, [3])]))
    assert (waits.count, waits.total) == (1, 3)
    assert left_out.startswith("behind 1 collective rank 1 ran no more, and others did")
    apart = merged([of_rank(0, [0, 9]), of_rank(1, [0, 9], names=(REDUCE, "c10d::barrier"))])
    assert "ran different ones (c10d::allreduce_ and c10d::barrier)" in waits_of(apart)[1]
    assert waits_of(merged([of_rank(0, [])])) == ([], "")


def test_the_clocks_of_other_hosts_are_put_right_or_said_to_be_their_own():
    here = replace(of_rank(0, [0, 90]), behind=0)
    there = replace(of_rank(1, [10, 100], begun=1_000, host="there"), behind=-1_000, notes=("measured",))
    trace = merged([here, there])
    assert [event.start for event in trace.events] == [0, 10, 90, 100]
    assert trace.notes == ("measured",)
    trace = merged([here, replace(there, behind=None, notes=())])
    told = [line.text for line in tables.lines(trace, tables.Manner())]
    assert "the clock of there is taken as it is: what it is wrong by is a wait here." in told


def test_each_rank_is_a_process_of_its_own_for_perfetto_and_a_lane_of_the_page():
    trace = merged([of_rank(1, [0, 50]), of_rank(0, [20, 60])])
    events = list(perfetto.trace_events(trace))
    names = {event["pid"]: event["args"]["name"] for event in events if event["name"] == "process_name"}
    assert names == {1: "rank 0", 2: "rank 1"}
    assert [event["pid"] for event in events if event["ph"] == "X"] == [2, 1, 2, 1]
    assert [lane["name"] for lane in page_data(trace)["lanes"]] == ["rank 0 thread 1", "rank 1 thread 1"]
