"""The trace that Perfetto opens: the documented format, slices that nest, arrows that bind to what they should."""

import json
from dataclasses import replace

import jsonschema
from synthetic import Maker, stack_of, training

from pyharness.report import perfetto

NUMBER = {"type": "number", "minimum": 0}
TEXT = {"type": "string", "minLength": 1}
COMMON = {"pid": {"type": "integer"}, "tid": {"type": "integer"}, "name": TEXT}
TIMED = {**COMMON, "cat": TEXT, "ts": NUMBER}


def kind(phase, required, properties):
    return {
        "properties": {"ph": {"const": phase}, **properties},
        "required": ["ph", *required],
        "additionalProperties": False,
    }


# The parts of the "Trace Event Format" that we use.
FORMAT = {
    "type": "object",
    "required": ["traceEvents"],
    "properties": {
        "displayTimeUnit": {"enum": ["ms", "ns"]},
        "otherData": {"type": "object"},
        "traceEvents": {
            "type": "array",
            "items": {
                "type": "object",
                "oneOf": [
                    kind(
                        "X",
                        ["name", "cat", "pid", "tid", "ts", "dur"],
                        {**TIMED, "dur": NUMBER, "args": {"type": "object"}},
                    ),
                    kind("s", ["name", "cat", "pid", "tid", "ts", "id"], {**TIMED, "id": {"type": "integer"}}),
                    kind(
                        "f",
                        ["name", "cat", "pid", "tid", "ts", "id", "bp"],
                        {**TIMED, "id": {"type": "integer"}, "bp": {"const": "e"}},
                    ),
                    kind("M", ["name", "pid", "tid", "args"], {**COMMON, "args": {"type": "object"}}),
                ],
            },
        },
    },
    "additionalProperties": False,
}


def written(trace):
    return json.loads(perfetto.text(trace))


def bound(events):
    """What a viewer makes of the events: each slice with its depth, and for each flow the slices that it joins."""
    slices, flows, stacks = [], {}, {}
    timed = sorted((event for event in events if "ts" in event), key=lambda event: event["ts"])
    for event in timed:
        stack = stacks.setdefault(event["tid"], [])
        while stack and event["ts"] >= stack[-1]["end"] - 1e-6:
            stack.pop()
        if event["ph"] == "X":
            end = event["ts"] + event["dur"]
            assert not stack or end <= stack[-1]["end"] + 1e-6, f"{event} leaves {stack[-1]}"
            stack.append({**event, "end": end, "depth": len(stack)})
            slices.append(stack[-1])
        else:
            flows.setdefault((event["id"], event["cat"], event["name"]), []).append((event["ph"], stack[-1]))
    return slices, flows


def test_it_keeps_to_the_documented_format():
    jsonschema.validate(written(training(500, shapes=True)), FORMAT)
    jsonschema.validate(written(Maker().trace()), FORMAT)


def test_every_event_is_a_slice_of_its_thread():
    trace = training(500)
    slices, _ = bound(written(trace)["traceEvents"])
    assert len(slices) == len(trace.events) + len(trace.graph_tasks)
    of = {each["args"]["event"]: each for each in slices if "event" in each["args"]}
    for event in trace.events:
        assert of[event.number]["name"] == event.name
        assert of[event.number]["ts"] == event.start / 1000
        assert of[event.number]["depth"] == event.depth + (event.kind == "node")


def test_an_arrow_leads_from_each_forward_op_to_its_node():
    trace = training(500)
    _, flows = bound(written(trace)["traceEvents"])
    assert len(flows) == len(trace.nodes)
    for (number, *_), ((begin, source), (end, target)) in flows.items():
        node = trace.events[number]
        assert (begin, end) == ("s", "f")
        assert target["args"]["event"] == node.number
        assert source["args"]["event"] == node.forward


def test_two_nodes_of_one_op_have_an_arrow_each():
    maker = Maker()
    op = maker.add("aten::mul", 10, stack=stack_of("a"))
    maker.clock = 100
    for _ in range(2):
        maker.add("MulBackward0", 10, stack=stack_of("a"), kind="node", forward=op.number, graph_task=1)
        maker.clock += 20
    _, flows = bound(written(maker.trace())["traceEvents"])
    assert [source["args"]["event"] for (_, source), _ in flows.values()] == [0, 0]
    assert sorted(target["args"]["event"] for _, (_, target) in flows.values()) == [1, 2]


def test_a_slice_ends_within_the_one_around_it():
    maker = Maker()
    outer = maker.add("outer", 100, stack=())
    maker.add("inner", 150, stack=(), parent=outer.number)
    maker.add("empty", 0, stack=(), parent=outer.number)
    slices, _ = bound(written(maker.trace())["traceEvents"])
    assert [each["dur"] for each in slices] == [0.1, 0.1, 0.001]


def test_a_run_of_the_engine_is_around_its_nodes():
    trace = training(100)
    slices, _ = bound(written(trace)["traceEvents"])
    runs = [each for each in slices if each["cat"] == "backward,graph task"]
    assert [(run["name"], run["depth"]) for run in runs] == [
        ("backward (graph task 0)", 0),
        ("backward (graph task 1)", 0),
    ]
    assert runs[0]["args"]["line"] == "/home/someone/train.py:31"


def test_what_a_slice_tells():
    trace = training(100, shapes=True)
    events = written(trace)["traceEvents"]
    op = next(event for event in events if event["name"] == "aten::mul")
    assert op["cat"] == "forward,op"
    assert op["args"]["module"] == "blocks.0.mixer.out"
    assert op["args"]["line"] == "Model_0123.py:11"
    assert op["args"]["fx node"] == "mixer_out_0"
    assert op["args"]["inputs"] == "float32[4, 16, 64], float32[64]"
    assert op["args"]["memory (bytes)"] == 16384


def test_threads_have_their_names():
    trace = training(100)
    trace = replace(trace, threads={1: "MainThread"})
    events = written(trace)["traceEvents"]
    assert {"name": "MainThread"} in [event["args"] for event in events if event["name"] == "thread_name"]
