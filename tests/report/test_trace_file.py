"""A trace in a file is the trace that was written, and what is no trace is said in one sentence."""

import json

import pytest
from synthetic import training

from pyharness.model.errors import HarnessError
from pyharness.model.results import trace_file
from pyharness.model.results.trace import Trace


@pytest.mark.parametrize("shapes", [False, True])
def test_what_is_read_is_what_was_written(shapes):
    trace = training(300, shapes=shapes)
    assert trace_file.load(trace_file.dump(trace)) == trace


def test_stacks_and_names_are_written_once():
    trace = training(2000)
    assert len(trace_file.dump(trace)) < 120 * len(trace.events)


def test_an_empty_trace():
    trace = Trace((), (), 0)
    assert trace_file.load(trace_file.dump(trace)) == trace


def changed(change):
    data = json.loads(trace_file.dump(training(50)))
    change(data)
    return json.dumps(data).encode()


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[]",
        b"{}",
        b"\xff\xfe",
        trace_file.dump(training(50))[:-20],
        changed(lambda data: data.update(format="another")),
        changed(lambda data: data.pop("calls")),
        changed(lambda data: data["stacks"].append([10**6])),
        changed(lambda data: data["events"].append([1, 2])),
        changed(lambda data: data["events"].append(None)),
        changed(lambda data: data["threads"].update(x="y")),
    ],
)
def test_what_is_no_trace_is_said(data):
    with pytest.raises(HarnessError, match="not a trace, or not a whole one"):
        trace_file.load(data)
