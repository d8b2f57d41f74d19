"""An extension that is not ours: its C++ autograd Function, behind an op and called straight from Python."""

import importlib.util

import pytest
import torch
from forward_oracle import made_by_forward, name_of, stack

import pyharness
from kit import builds
from pyharness.model.results.finding_text import finding_lines
from pyharness.native import breakpoint as native_breakpoint

pytestmark = pytest.mark.timeout(600)  # compiles the extension, where there is none yet
NODE = "torch::autograd::CppNode<survey::Distance>"
NEAREST = "the op that came next"


@pytest.fixture(scope="module")
def survey():
    spec = importlib.util.spec_from_file_location("survey", builds.survey())
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Anchor(torch.nn.Module):
    """Distances to a point that is learned."""

    def __init__(self, distance):
        super().__init__()
        self.distance = distance
        self.place = torch.nn.Parameter(torch.tensor([1.0, 2.0]))

    def forward(self, points):
        return self.distance(points, self.place)


@pytest.fixture(params=["op", "direct"])
def anchor(request, survey):
    """The same Function with an op around it, and without; ``direct`` says which."""
    made = Anchor(torch.ops.survey.distance if request.param == "op" else survey.distance)
    made.direct = request.param == "direct"
    return made


def run(anchor, points):
    return torch.nn.Sequential(torch.nn.Identity(), anchor)(points)


FAR = torch.tensor([[0.0, 1.0], [4.0, 4.0]])
MEETS = torch.tensor([[0.0, 1.0], [1.0, 2.0]])


def frames(event):
    return [(call.file, call.line, call.function.rpartition(".")[2]) for call in event.stack]


def test_a_recording_names_the_line_and_says_what_it_did_not_see(anchor):
    with pyharness.record() as recording, torch.autograd.set_detect_anomaly(True, check_nan=False):
        loss = run(anchor, FAR).sum()
        (wanted,) = (node for node in made_by_forward(loss) if node.name() == NODE)
        loss.backward()
    trace = recording.trace
    (node,) = (event for event in trace.nodes if event.name == NODE)
    assert frames(node) == stack(wanted)
    assert (node.origin.function, node.module) == (name_of(Anchor.forward), "1")
    assert node.approximate == anchor.direct
    made_by = trace.events[node.forward]
    assert made_by.name == ("aten::sub" if anchor.direct else "survey::distance")
    assert made_by.depth == 0
    others = [event for event in trace.nodes if event.forward is not None and event is not node]
    assert others
    assert not any(event.approximate for event in others)


def test_a_node_without_any_op_is_said_to_be_of_the_next_one(survey):
    """Nothing tells where it was made; what is told instead is marked, and the op's own node is not taken for it."""
    x = torch.ones(3, requires_grad=True)
    with pyharness.record() as recording:
        y = x * 2
        survey.same(y)
        y.exp().sum().backward()
    trace = recording.trace
    nodes = {event.name: event for event in trace.nodes}
    same, exp, mul = (
        nodes[name] for name in ("torch::autograd::CppNode<survey::Same>", "ExpBackward0", "MulBackward0")
    )
    assert (same.approximate, exp.approximate, mul.approximate) == (True, False, False)
    assert same.forward == exp.forward
    assert [trace.events[node.forward].name for node in (mul, exp)] == ["aten::mul", "aten::exp"]


def test_the_first_nan_is_in_its_backward(anchor):
    with pyharness.find_nan(action=lambda _: None) as search:
        run(anchor, MEETS).sum().backward()
    finding = search.finding
    assert (finding.kind, finding.name, finding.made, finding.values) == ("node", NODE, True, ("nan",))
    assert (finding.origin.function, finding.module) == (name_of(Anchor.forward), "1")
    assert finding.approximate == anchor.direct
    assert finding.to_json()["approximate"] == anchor.direct
    assert finding.outputs[0].statistics.first == (1, 0)
    text = "\n".join(line.text for line in finding_lines(finding))
    assert (NEAREST in text) == anchor.direct


def test_the_first_nan_in_its_forward_is_of_the_op_in_it(anchor):
    anchor.place.data[0] = float("inf")
    with pyharness.find_nan(action=lambda _: None, values=("nan",)) as search:
        run(anchor, torch.tensor([[float("inf"), 1.0]]))
    finding = search.finding
    assert (finding.kind, finding.name) == ("op", "aten::sub")
    assert finding.within == (() if anchor.direct else ("survey::distance",))
    assert finding.origin.function == name_of(Anchor.forward)


def test_native_breakpoints_at_its_node(anchor):
    before, after, elsewhere = [], [], []
    with (
        native_breakpoint(node="*survey::Distance>", module="1", action=before.append),
        native_breakpoint(node="*survey::Distance>", when="nan(out) and not nan(in0)", action=after.append),
        native_breakpoint(node="*survey::Distance>", module="0", action=elsewhere.append),
    ):
        run(anchor, FAR).sum().backward()
        assert (len(before), len(after)) == (1, 0)
        run(anchor, MEETS).sum().backward()
    assert [hit.before for hit in (*before, *after)] == [True, True, False]
    assert after[0].outputs[0].isnan().tolist() == [[False, False], [True, True]]
    assert elsewhere == []


def test_native_breakpoints_at_ops_in_its_backward(anchor):
    hits = []
    with native_breakpoint(op="aten::div", node="*survey::Distance>", when="nan(out)", action=hits.append):
        run(anchor, MEETS).sum().backward()
    (hit,) = hits
    assert hit.name == "aten::div"
    assert (hit.inputs[1] == 0).tolist() == [[False], [True]]
