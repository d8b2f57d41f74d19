"""In a kernel that torch.compile made: nodes of the element that is computed, buffers as tensors, runs to one."""

import json
import math
import re
from functools import cache

import pytest

from kit import inductor, marks
from kit.command import PYHARNESS, Command
from kit.dialogue import PROMPT, Dialogue
from pyharness.model.tensors.text import number

pytestmark = pytest.mark.rotated_tests(turns=11)

PROGRAM = """
import json, sys, torch

def model(x, y, bias):
    hidden = torch.nn.functional.gelu(x) * y.t()
    return (hidden + bias).relu(), hidden.sum(0)

def main():
    torch.manual_seed(0)
    kind = torch.bfloat16 if sys.argv[1] == "bfloat16" else torch.float32
    x, y, bias = torch.randn(3, 20).to(kind), torch.randn(20, 3).to(kind), torch.randn(20).to(kind)
    compiled = torch.compile(model, dynamic=sys.argv[1] == "dynamic")
    with torch.no_grad():
        hidden = torch.nn.functional.gelu(x) * y.t()
        eager = {"gelu": torch.nn.functional.gelu(x), "hidden": hidden, "x": x}
        json.dump({name: value.tolist() for name, value in eager.items()}, open(sys.argv[2], "w"))
        compiled(x, y, bias)  # @call

main()
"""


PADS = """
import torch

def model(x):
    wide = torch.nn.functional.pad(x.exp(), (1, 2))
    return wide + 1, wide.to(torch.uint8)

compiled = torch.compile(model)
with torch.no_grad():
    compiled(torch.arange(60.0).reshape(3, 20) / 60)  # @call
"""
"""Around what is padded, nothing is loaded: the kernel has a function within for what is."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return inductor.filled(tmp_path_factory.mktemp("values"), script=PROGRAM, pads=PADS)


@pytest.fixture(scope="module")
def environment(folder):
    """Where the programs compile, each kernel once."""
    return inductor.environment(folder)


@pytest.fixture(scope="module")
def run(folder, environment):
    """The stops of ``pyharness step`` in the kernel, and what eager mode computes."""
    call = f"py:script.py:{marks.line_of('call', folder / 'script.py')}"

    def run(*words, kind="static", built=("--debug-kernels",)):
        command = ("step", "script.py", *built, "--at", call, "--into-native", *words, "--kill", "--json", "--raw")
        result = Command(environment, folder)(*command, "--", kind, folder / "eager.json")
        assert result.returncode == 0, result.stderr + result.stdout
        return json.loads(result.stdout)["stops"][1:], json.loads((folder / "eager.json").read_text())

    return run


def lanes_of(text):
    """The numbers that a vector has, and its first element and its last."""
    found = re.fullmatch(r"\[(.*)\]  \w+\[(\d+), (\d+)\] to \[(\d+), (\d+)\], along (\w+)", text)
    assert found, text
    row, column, last_row, last_column = map(int, found.groups()[1:5])
    return [float(each) for each in found[1].split(", ")], (row, column), (last_row, last_column)


NO_NODES = ("torch.__name__", "1 + 1")


def printing(*names):
    return [word for name in names for word in ("--print", name)]


@pytest.fixture(scope="module")
def optimized(run):
    """What a stop in an optimized kernel prints, and what eager mode computes."""
    (stop,), eager = run(*printing("in_ptr0", "gelu", "x0", *NO_NODES), built=())
    return stop["printed"], eager


@pytest.fixture(scope="module")
def static(run):
    """The stops on lines of a kernel that is built to be debugged, and what eager mode computes."""
    return run(*printing(*NO_NODES), *["--over", *printing("gelu", "x0")] * 40)


@pytest.mark.rotated(turns=3)
@pytest.mark.parametrize("kind", ["static", "dynamic"])
def test_a_node_is_the_value_of_the_element_that_is_computed(request, run, kind):
    lines = ["--over", *printing("gelu", "x0")] * 40
    stops, eager = request.getfixturevalue("static") if kind == "static" else run(*lines, kind=kind)
    stops = stops[1:]
    shown = [each["printed"]["gelu"] for each in stops if each["printed"]]
    assert shown[0].startswith("<not computed yet: line "), shown
    known = [text for text in shown if not text.startswith("<")]
    assert known, shown
    for text in known:
        numbers, first, last = lanes_of(text)
        assert len(numbers) > 1
        between = [(row, column) for row in range(3) for column in range(20)]
        lanes = [at for at in between if min(first, last) <= at <= max(first, last)]
        if first[1] == last[1]:  # along the rows
            lanes = [at for at in lanes if at[1] == first[1]]
        assert len(numbers) == len(lanes), text
        expected = [eager["gelu"][row][column] for row, column in lanes]
        assert numbers == pytest.approx(expected, rel=1e-5, abs=1e-6)
    places = [each["printed"]["x0"] for each in stops if each["printed"]]
    elements = [re.fullmatch(r"\d+ → \w+\[(\d+), (\d+)\]: row \1, column \2", text) for text in places if "→" in text]
    assert elements, places
    assert all(found and int(found[1]) < 20 and int(found[2]) < 20 for found in elements), places


def test_the_buffers_of_an_optimized_kernel_are_tensors_and_its_nodes_are_not_known(optimized):
    shown, eager = optimized
    assert re.match(r"\w+: Tensor float32 \[\d+, \d+\] cpu \[\[", shown["in_ptr0"]), shown
    assert number(eager["x"][0][0]) in shown["in_ptr0"]
    for name in ("gelu", "x0"):
        assert shown[name].startswith("<not known: "), shown
        assert "--debug-kernels" in shown[name]


def test_vectors_of_bfloat16_have_lanes(run):
    stops, _ = run(*["--over", *printing("tmp0", "tmp1", "tmp2")] * 20, kind="bfloat16")
    shown = [text for each in stops for text in (each["printed"] or {}).values()]
    assert not [text for text in shown if "unreadable" in text], shown
    lanes = {text.count(", ") + 1 for text in shown if text.startswith("[")}
    assert max(lanes, default=0) in {16, 32}, shown  # AVX2, AVX-512


def test_a_name_that_is_no_node_is_gdbs_or_pythons(optimized, static):
    for shown in (optimized[0], static[0][0]["printed"]):
        assert {name: shown[name] for name in NO_NODES} == {"torch.__name__": "'torch'", "1 + 1": "2"}


EXAMPLE = r": element \w+\[0, 0\]\n"


@pytest.fixture(scope="module")
def typed(folder, environment):
    """Run a script under the prompt up to its kernel, and then commands."""

    def run(script, *commands, words=("--debug-kernels",), args=(), **variables):
        call = f"py:{script}:{marks.line_of('call', folder / script)}"
        lines = [word for line in ("into native", *commands, "kill") for word in ("-c", line)]
        command = Command({**environment, **variables}, folder)
        return command("debug", script, *words, "--at", call, *lines, "--", *args)

    return run


@pytest.fixture(scope="module")
def prompt(folder, typed):
    """What the prompt says of commands in the kernel, and what eager mode computes."""

    def prompt(*commands, kind="static", built=("--debug-kernels",)):
        result = typed("script.py", *commands, words=built, args=(kind, folder / "eager.json"))
        return result, json.loads((folder / "eager.json").read_text())

    return prompt


@pytest.fixture(scope="module")
def to_the_element(prompt):
    """What the prompt says on the way to an element, and once it was computed."""
    words = {"static": "element gelu[-1, -13]", "dynamic": "element gelu[2, 7]"}
    return cache(lambda kind: prompt(words[kind], "next", "p gelu", *[words[kind]] * 3, kind=kind))


@pytest.mark.rotated(turns=3)
@pytest.mark.parametrize("kind", ["static", "dynamic"])
def test_it_runs_on_to_the_element_of_a_node(to_the_element, kind):
    result, eager = to_the_element(kind)
    shown = [line for line in result.stdout.splitlines() if re.search(r"\]  \w+\[.* along ", line)]
    assert shown, result.stdout + result.stderr
    numbers, first, last = lanes_of(shown[-1])
    lane = 2 - first[0] if first[1] == last[1] else 7 - first[1] + 20 * (2 - first[0])
    assert numbers[lane] == pytest.approx(eager["gelu"][2][7], rel=1e-5)


def test_the_command_line_runs_on_to_an_element(run):
    (_, there, over), eager = run("--element", "gelu[2, 7]", "--over", "--print", "gelu", "--print", "x0")
    assert (there["reason"], over["line"] > there["line"]) == ("breakpoint", True)
    numbers, first, last = lanes_of(over["printed"]["gelu"])
    lane = 2 - first[0] if first[1] == last[1] else 7 - first[1] + 20 * (2 - first[0])
    assert numbers[lane] == pytest.approx(eager["gelu"][2][7], rel=1e-5)


def test_an_element_that_was_computed_already_ends_at_the_caller(to_the_element):
    result, _ = to_the_element("static")
    assert "· python · call ·" in result.stdout
    assert "This frame is in no kernel" in result.stderr


REFUSED = {
    "element": rf"Which element\?.*{EXAMPLE}",
    "element 7": f"is no element.*{EXAMPLE}",
    "element nix[0, 0]": f"No line of this kernel computes 'nix'.*{EXAMPLE}",
    "element gelu[0]": "has 2 dimensions",
    "element gelu[5, 0]": r"is \[3, 20\]: it has no element \[5, 0\]",
    "element gelu[0, -21]": r"is \[3, 20\]: it has no element \[0, -21\]",
}


@pytest.mark.rotated(turns=3)
@pytest.mark.parametrize(
    ("refused", "built"),
    [(REFUSED, ["--debug-kernels"]), ({"element 7": "--debug-kernels", "element gelu[0, 0]": "--debug-kernels"}, [])],
    ids=["to be debugged", "optimized"],
)
def test_what_is_no_element_is_refused(folder, environment, refused, built):
    call = f"py:script.py:{marks.line_of('call', folder / 'script.py')}"
    words = ("--at", call, "--", "static", "eager.json")
    dialogue = Dialogue(
        [*PYHARNESS, "debug", *built, "script.py", *words], {**environment, "TERM": "dumb"}, folder=folder
    )
    try:
        dialogue.wait_for(PROMPT)
        dialogue.says("into native")
        for typed, expected in refused.items():
            assert re.search(expected, dialogue.says(typed), re.DOTALL), f"{typed}: {dialogue.text}"
    finally:
        dialogue.end()


@pytest.mark.rotated(turns=3)
@pytest.mark.parametrize("in_cxx", ["0", "1"])
def test_a_masked_load_is_a_part_of_its_kernel(typed, in_cxx):
    """Lanes outside of the tensor are not the node's; what is around it is the padding's."""
    of_the_load = ("element exp[0, 3]", "bt", "next", "p exp", "p in_ptr0")
    behind_it = ("out", "out", "next", "p constant_pad_nd", "element convert_element_type[0, 3]", "next")
    past_the_wrapper = ["into native"] * int(in_cxx)
    commands = (*past_the_wrapper, *of_the_load, *behind_it, "p convert_element_type")
    result = typed("pads.py", *commands, TORCHINDUCTOR_CPP_WRAPPER=in_cxx)
    said = result.stdout
    kernel = "cpp_fused__to_copy_add_constant_pad_nd_exp_0"
    assert re.search(rf"{kernel}::operator\(\) .*\[fx: exp", said), said + result.stderr
    assert re.search(rf"{kernel} .*\[fx: constant_pad_nd", said), said
    loaded = re.search(r"^\[—, ([\d., ]+)\]  exp\[0, -1\] to ", said, re.MULTILINE)
    padded = re.search(r"^\[([\d., ]+)\]  constant_pad_nd\[0, 0\] to ", said, re.MULTILINE)
    assert loaded, said
    assert padded, said
    numbers = [float(each) for each in loaded[1].split(", ")]
    assert numbers == pytest.approx([math.exp(number / 60) for number in range(len(numbers))], rel=1e-5)
    assert [float(each) for each in padded[1].split(", ")] == [0, *numbers]
    assert re.search(r"^\[0(, 1){7,}\]  convert_element_type\[0, 0\] to ", said, re.MULTILINE), said  # bytes
    assert re.search(r"^arg0_1: Tensor float32 \[3, 20\]", said, re.MULTILINE), said
