"""The HTML page, without a browser: what it holds, that it holds it all, and that no name in it is markup."""

import base64
import hashlib
import json
from html.parser import HTMLParser
from itertools import accumulate

import hostile
import pytest
from synthetic import Maker, stack_of, training

from pyharness.model.results.trace import GraphTask
from pyharness.report.html import page
from pyharness.report.lanes import MAX_LEVELS, place


class Parts(HTMLParser):
    """The page's elements as a browser takes it apart, and what is in the scripts."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.tags, self.scripts, self.title, self.policy = [], [], "", ""
        self._in = None
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        self._in = tag
        if tag == "script":
            self.scripts.append("")
        if dict(attributes).get("http-equiv"):
            self.policy = dict(attributes)["content"]

    def handle_endtag(self, tag):
        self._in = self._in if self._in != tag else None

    def handle_data(self, data):
        if self._in == "script":
            self.scripts[-1] += data
        if self._in == "title":
            self.title += data

    @property
    def data(self):
        return json.loads(self.scripts[0])


@pytest.fixture(scope="module")
def plain():
    """A trace, and its page taken apart."""
    trace = training(400, shapes=True)
    return trace, Parts(page(trace))


def test_every_event_is_there(plain):
    trace, parts = plain
    data, columns = parts.data, parts.data["events"]
    assert [data["names"][name] for name in columns["name"]] == [event.name for event in trace.events]
    assert list(accumulate(columns["start"])) == [event.start for event in trace.events]
    assert columns["duration"] == [event.duration for event in trace.events]
    assert [data["modules"][number] for number in columns["module"]] == [event.module for event in trace.events]
    assert [data["tensors"][number] for number in columns["inputs"]] == ["float32[4, 16, 64] float32[64]"] * len(
        trace.events
    )


def test_partners_and_parents_count_back_from_the_event(plain):
    trace, parts = plain
    columns = parts.data["events"]
    for event in trace.events:
        assert event.number - columns["forward"][event.number] == (
            event.number if event.forward is None else event.forward
        )
        assert event.number - columns["parent"][event.number] == (
            event.number if event.parent is None else event.parent
        )


def test_lines_come_with_their_code(tmp_path):
    (tmp_path / "generated.py").write_text("def forward(self, x):\n    mul = x * 2\n")
    maker = Maker()
    call = stack_of("a", 2, "mul")[0].__class__(str(tmp_path / "generated.py"), 2, "forward", "a", "mul")
    maker.add("aten::mul", 10, stack=(call,))
    data = Parts(page(maker.trace())).data
    assert data["stacks"] == [[0, 0]]
    assert data["calls"][0][1:] == [2, "forward", "a", "mul", "mul = x * 2"]


def test_the_page_needs_nothing_from_anywhere(plain):
    _, parts = plain
    for _, attributes in parts.tags:
        assert not {"src", "href", "action", "onclick", "onload"} & set(attributes)
    assert "default-src 'none'" in parts.policy
    assert not [
        word for word in ("http:", "https:", "import(", "fetch(", "eval(", "innerHTML") if word in parts.scripts[1]
    ]


def test_the_policy_allows_this_script_only(plain):
    _, parts = plain
    digest = base64.b64encode(hashlib.sha256(parts.scripts[1].encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in parts.policy


def test_ten_thousand_events_stay_small():
    text = page(training(10_000, shapes=True))
    assert len(text.encode()) < 1_500_000


def test_names_are_never_markup():
    harmless = [tag for tag, _ in Parts(page(training(10))).tags]
    trace = hostile.trace()
    parts = Parts(page(trace))
    assert [tag for tag, _ in parts.tags] == harmless
    assert len(parts.scripts) == 2
    assert parts.data["program"] == trace.program
    assert parts.data["names"] == [
        f"{name}.{name}" if kind else name for name in hostile.NAMES for kind in (True, False)
    ]
    assert parts.title == f"{trace.program} · pyharness trace".replace("\udcff", "?")


def test_an_empty_trace_has_a_page():
    data = Parts(page(Maker().trace())).data
    assert data["lanes"] == []
    assert data["events"]["start"] == []


def test_each_thread_has_a_forward_and_a_backward_lane():
    maker = Maker()
    op = maker.add("outer", 100, stack=stack_of("a"))
    maker.add("inner", 50, stack=stack_of("a"), parent=op.number)
    maker.clock = 200
    node = maker.add("Backward", 100, stack=stack_of("a"), kind="node", graph_task=0, reentrant=1)
    again = maker.add("again", 50, stack=stack_of("a"), parent=node.number, graph_task=0, reentrant=1)
    maker.add("other", 10, stack=stack_of("b"), thread=2)
    placed = place(maker.trace())
    assert [(lane.thread, lane.backward, lane.rows) for lane in placed.lanes] == [
        (1, False, 2),
        (1, True, 2),
        (2, False, 1),
    ]
    assert placed.lane == [0, 0, 1, 1, 2]
    assert placed.row == [0, 1, 0, 1, 0]
    assert again.depth == 1


def test_a_backward_that_an_op_starts_begins_at_the_top_of_its_lane():
    maker = Maker()
    op = maker.add("penalty", 500, stack=())
    node = maker.add("Backward", 100, stack=(), kind="node", parent=op.number, graph_task=0, reentrant=1)
    maker.add("Inner", 50, stack=(), kind="node", parent=node.number, graph_task=1, reentrant=2)
    maker.tasks += [GraphTask(0, "grad", 1, 0, 400, 1, None, ()), GraphTask(1, "backward", 1, 10, 100, 1, 0, ())]
    placed = place(maker.trace())
    assert placed.row == [0, 0, 1]
    assert [(task.number, row) for task, row in placed.lanes[1].tasks] == [(0, 0), (1, 1)]


def test_neighbours_in_one_module_share_a_stretch():
    maker = Maker()
    for module in ("a.x", "a.x", "a.y", "b", None, "a.x"):
        maker.add("aten::mul", 10, stack=stack_of(module) if module else ())
        maker.clock += 10
    spans = sorted((span.start, span.level, span.module, span.end) for span in place(maker.trace()).lanes[0].spans)
    assert spans == [
        (0, 0, "a", 30),
        (0, 1, "a.x", 20),
        (20, 1, "a.y", 30),
        (30, 0, "b", 40),
        (50, 0, "a", 60),
        (50, 1, "a.x", 60),
    ]


def test_two_steps_of_one_module_are_two_stretches():
    spans = [span for span in place(training(100)).lanes[0].spans if span.module == "blocks"]
    assert len(spans) == 2


def test_very_deep_modules_are_cut():
    maker = Maker()
    maker.add("aten::mul", 10, stack=stack_of(".".join("abcdefghij")))
    assert len(place(maker.trace()).lanes[0].spans) == MAX_LEVELS
