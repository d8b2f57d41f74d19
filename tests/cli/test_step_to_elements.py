"""An element of a node as a place: where a kernel of torch.compile's computes it, in the call that it is of."""

import json
import re

import pytest

from kit import inductor
from kit.command import Command

pytestmark = pytest.mark.rotated_tests(turns=7)

PROGRAM = """
import json, sys, torch
import torch._inductor.config

torch._inductor.config.cpp_wrapper = "cxx" in sys.argv
torch.manual_seed(0)
layers = [torch.nn.Linear(20, 20) for _ in range(3)]
model = torch.nn.Sequential(*(each for layer in layers for each in (layer, torch.nn.GELU())))
x = torch.randn(3, 20)
with torch.no_grad():
    json.dump([model[: 2 * count](x).tolist() for count in (1, 2, 3)], open("eager.json", "w"))
    torch.compile(model, dynamic="dynamic" in sys.argv)(x)
"""
"""Layers of one shape: their kernel is one, which is called three times."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return inductor.filled(tmp_path_factory.mktemp("elements"), script=PROGRAM)


@pytest.fixture(scope="module")
def step(folder):
    environment = inductor.environment(folder)

    def step(*words, kinds=()):
        result = Command(environment, folder)("step", "script.py", *words, "--json", "--raw", "--", *kinds)
        return json.loads(result.stdout)

    return step


@pytest.mark.parametrize("kinds", [(), ("dynamic",), ("cxx",)], ids=["static", "dynamic", "cxx_wrapper"])
def test_a_place_is_an_element_in_the_call_that_computes_its_node(step, folder, kinds):
    words = ("--at", "fx:gelu_1[2, 7]", "--over", "--print", "gelu_1", "--continue")
    played = step("--debug-kernels", *words, "--log", "fx:gelu_2[0, 0]", "third", kinds=kinds)
    there, over = played["stops"]
    assert there["reason"] == "breakpoint"
    assert there["function"].startswith("cpp_fused_gelu_"), there
    shown = over["printed"]["gelu_1"]
    last = float(shown.partition("]")[0].lstrip("[").split()[-1 if shown.startswith("[") else 0])
    eager = json.loads((folder / "eager.json").read_text())
    assert re.search(r"to \[2, 7\], along x\d", shown) or shown.endswith("(row 2, column 7)"), shown
    assert last == pytest.approx(eager[1][2][7], rel=1e-5)
    assert [each["text"] for each in played["logged"]] == ["third"]
    assert played["exit_code"] == 0


@pytest.mark.parametrize(
    ("place", "built", "said"),
    [
        ("fx:gelu[0, 20]", ("--debug-kernels",), r"is \[3, 20\]: it has no element \[0, 20\]"),
        ("fx:linear[0, 0]", ("--debug-kernels",), "computes it whole"),
        ("fx:gleu[0, 0]", ("--debug-kernels",), "No graph of the program has fx:gleu"),
        ("fx:gelu[0, 0]", (), "--debug-kernels"),
    ],
)
def test_an_element_that_no_kernel_computes_is_said(step, place, built, said):
    error = step(*built, "--at", place)["error"]
    assert re.search(said, f"{error['message']} {error['remedy']}"), error
