"""Every question survives the way to the other process and back, has an asker and a handler, and refuses the wrong."""

import ast
import json
import os

import pytest
from hypothesis import given, settings
from made_up import JSON, values

from kit.paths import ROOT
from pyharness.model.codec import MalformedError, encode
from pyharness.protocol import agent, channel, mi, pydevd
from pyharness.protocol.question import Question

pytestmark = pytest.mark.rotated_tests(turns=2)

PACKAGE = ROOT / "pyharness"
FAMILIES = {
    mi.Command: (("debugger",), ("ingdb",)),
    agent.Request: (("debugger", "dap", "ingdb"), ("debuggee",)),
    channel.Message: (("debuggee",), ("debugger",)),
    channel.Greeting: (("debugger",), ("debuggee",)),
    pydevd.Data: (("debuggee",), ("debugger",)),
}
"""Who asks, and who handles."""
QUESTIONS = [question for family in FAMILIES for question in family.known.values()]
EXAMPLES = max(20, int(os.environ.get("PYHARNESS_EXAMPLES", "0")) // len(QUESTIONS))
"""Of each question: all of them together are one kind of what is made up."""


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda each: each.tag)
def test_a_question_and_its_answer_survive_the_wire(question):
    @settings(max_examples=EXAMPLES, deadline=None)
    @given(values(question), values(question.answer_type))
    def survives(asked, answer):
        assert question.from_json(json.loads(json.dumps(asked.to_json()))) == asked
        assert question.read_answer(json.loads(json.dumps(encode(answer)))) == answer

    survives()


def refusal(reader, data):
    try:
        reader(data)
    except MalformedError as error:
        return str(error)
    return None


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda each: each.tag)
def test_anything_else_is_one_error_that_names_the_question(question):
    @settings(max_examples=EXAMPLES, deadline=None)
    @given(JSON)
    def read(data):
        for problem in (refusal(question.from_json, data), refusal(question.read_answer, data)):
            assert problem is None or (question.tag in problem and "\n" not in problem)

    read()


def test_what_is_wrong_is_named():
    right = mi.Jump(7, "a.cpp", 3).to_json()
    wrong = {
        "ph-jump lacks thread": {key: value for key, value in right.items() if key != "thread"},
        "ph-jump has no 'column'": {**right, "column": 1},
        "ph-jump.line is not a whole number: '3'": {**right, "line": "3"},
        "ph-jump.line is not a whole number: True": {**right, "line": True},
        "ph-jump is not an object: []": [],
    }
    for text, data in wrong.items():
        with pytest.raises(MalformedError, match=text.replace("[", r"\[").replace("]", r"\]")):
            mi.Jump.from_json(data)


def names_used(folders):
    """What the modules of folders call, and what they tell apart: arguments of calls, and cases."""
    for path in (path for folder in folders for path in (PACKAGE / folder).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call):
                yield "call", name_of(node.func)
                yield from (("case", name_of(each)) for each in node.args)
            elif isinstance(node, ast.MatchClass):
                yield "case", name_of(node.cls)


def name_of(node):
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


@pytest.mark.parametrize("family", FAMILIES, ids=lambda each: each.__name__)
def test_each_question_is_asked_and_handled(family):
    asker, handler = (set(names_used(folders)) for folders in FAMILIES[family])
    for question in family.known.values():
        assert ("call", question.__name__) in asker, f"nobody asks {question.tag}"
        assert ("case", question.__name__) in handler, f"nobody handles {question.tag}"


def test_a_name_is_given_once():
    with pytest.raises(TypeError, match="two questions are called ph-where"):

        class Again(mi.Command[None], name="ph-where"):
            """Another."""

    assert issubclass(mi.Where, Question)
