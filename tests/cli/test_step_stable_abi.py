"""Ops over torch's stable ABI: their library has no debug information on ATen's tensors."""

import json

import pytest

from kit.builds import stable_abi
from kit.marks import line_of
from kit.paths import PROGRAMS

PROGRAM = PROGRAMS / "stable_abi.py"
SOURCE = PROGRAMS / "stable_abi.cpp"
BEFORE = "float32 [2, 3] cpu [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]"
AFTER = "float32 [2, 3] cpu [[0.0, 2.0, 4.0], [6.0, 8.0, 10.0]]"
BIAS = "float32 [3] cpu [1.0, 1.0, 1.0]"

pytestmark = pytest.mark.rotated_tests(turns=3)


@pytest.fixture
def stops(pyharness):
    """What ``step`` shows at the places that are named, each with what is printed there."""

    def played(*words):
        done = pyharness("step", PROGRAM, *words, "--kill", "--json", "--", stable_abi())
        return json.loads(done.stdout)["stops"]

    return played


def test_its_values_are_shown(stops):
    at_start = {
        "input": f"Tensor {BEFORE}",
        "input[1][2]": "5.0",
        "bias": f"Tensor {BIAS}",
        "many": f"[Tensor {BEFORE}, Tensor {BIAS}]",
        "device": "cpu",
        "other": "nullopt",
    }
    at_end = {
        "output": f"Tensor {AFTER}",
        "*pointer": f"Tensor {AFTER}",
        "undefined": "Tensor undefined",
        "none": "nullopt",
        "type": "float32",
        "sizes": "[2, 3]",
        "$ph_elements(output)[1]": "{6, 8, 10}",
    }
    prints = [[word for name in each for word in ("--print", name)] for each in (at_start, at_end)]
    done = f"native:{SOURCE.name}:{line_of('done', SOURCE)}"
    start, end = stops("--at", "native:steady::doubled", *prints[0], "--at", done, *prints[1])
    assert start["printed"] == at_start
    assert end["printed"] == at_end


def test_into_goes_through_what_boxes_it_and_out_to_python(stops):
    place = f"py:{PROGRAM.name}:{line_of('call', PROGRAM)}"
    _, inside, outside = stops("--at", place, "--into-native", "--stack", "--out")
    assert (inside["function"], inside["file"]) == ("steady::doubled", str(SOURCE))
    shown = [frame["function"] for frame in inside["stack"] if not frame["plumbing"]]
    assert shown == ["steady::doubled", "<module>"]
    assert (outside["language"], outside["line"]) == ("python", line_of("call", PROGRAM) + 1)


def test_a_kernel_that_is_boxed_by_hand(stops):
    op, inside, line = stops("--at", "op:steady::same", "--into-native", "--over", "--print", "input")
    assert op["function"] == "steady::same"
    assert inside["function"] == "steady::same"
    assert (line["line"], line["printed"]) == (line_of("same", SOURCE), {"input": f"Tensor {AFTER}"})


def test_the_stack_of_a_nan_begins_with_what_has_a_name(pyharness):
    """The op is called by a closure of libtorch's, of which no symbol is left."""
    script = pyharness.folder / "spoils.py"
    loads = f"torch.ops.load_library({str(stable_abi())!r})"
    script.write_text(f"import torch\n{loads}\ntorch.ops.steady.spoiled(torch.ones(3))\n")
    done = pyharness("run", "--nan", script)
    assert "The first NaN was made by steady::spoiled" in done.stderr
    assert "??" not in done.stderr
