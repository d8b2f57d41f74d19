"""Parts of what an op is given, at a stop there: read from memory, and what is no part is said in one sentence."""

import pytest

import pyharness
from pyharness.model.errors import HarnessError

PROGRAM = "import torch\nx = torch.arange(6.).reshape(2, 3)\ny = x * 2\nz = torch.cat([x, x])\n"
HAS = "aten::mul has in0, in1; out0 only after it."
READ = {
    "in0[1:2][0]": "[3.0, 4.0, 5.0]",
    "in0[1:2][0, 1]": "4.0",
    "in0[0:2][1:2]": "[[3.0, 4.0, 5.0]]",
    "in0[::2]": "[[0.0, 1.0, 2.0]]",
    "in0.shape[0]": "2",
    "in0.shape[0:1]": "[2]",
    "in0.strides[-1]": "1",
}
REFUSED = {
    "in0[9, 9]": "in0[9, 9] is out of range: in0 has 2 elements.",
    "in0[1:2][1]": "in0[1:2][1] is out of range: in0[1:2] has 1 element.",
    "in0[0, 9]": "in0[0, 9] is out of range: in0[0] has 3 elements.",
    "in0[0][0][0]": "in0[0][0][0] has one index too many: in0[0][0] is 0.0.",
    "in0[0, 0, 0]": "in0[0, 0, 0] has one index too many: in0[0, 0] is 0.0.",
    "in0[0.5]": "in0[0.5]: '0.5' is no index here: 0.5 is no whole number.",
    "in0[x]": "in0[x]: 'x' is no index here: No symbol \"x\" in current context.",
    "in0[]": "in0[] has an index that is empty.",
    "in1[0]": "in1[0] has one index too many: in1 is a tensor without dimensions.",
    "in1[0:1]": "in1[0:1] has one index too many: in1 is a tensor without dimensions.",
    "out0": f"out0 is no value of this stop: {HAS}",
    "x[7]": "IndexError: index 7 is out of bounds for dimension 0 with size 2",
    "nowhere": "'nowhere' is known neither to gdb nor to Python here.",
}
OF_A_LIST = {"in0[-1][0]": "[0.0, 1.0, 2.0]", "in0[0:1]": "[float32[2, 3]]"}


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    script = tmp_path_factory.mktemp("op") / "multiplied.py"
    script.write_text(PROGRAM)
    with pyharness.debug(script) as running:
        yield running


def refusal(program, expression):
    with pytest.raises(HarnessError) as refused:
        program.evaluate(expression)
    assert "In Python" not in str(refused.value)
    return refused.value.message.strip().splitlines()[-1]


def test_parts_of_tensors_and_of_lists(program):
    assert program.run_to("op:aten::mul")
    assert {expression: program.evaluate(expression) for expression in READ} == READ
    assert {expression: refusal(program, expression) for expression in REFUSED} == REFUSED
    assert program.run_to("op:aten::cat")
    assert {expression: program.evaluate(expression) for expression in OF_A_LIST} == OF_A_LIST
    assert refusal(program, "in0[2]") == "in0[2] is out of range: in0 has 2 elements."
