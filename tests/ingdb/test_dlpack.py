"""Tensors of DLPack, which libraries hand on to each other, in expressions of C++."""

import pytest

from kit.looking import standing
from kit.paths import PROGRAMS
from pyharness.model.errors import HarnessError

SOURCE = PROGRAMS / "dlpack_tensors.cpp"
PLAIN = "Tensor float32 [2, 3] cpu [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]"
SHOWN = {
    "plain": PLAIN,
    "plain[1][0]": "3.0",
    "transposed": "Tensor float32 [3, 2] cpu [[0.0, 3.0], [1.0, 4.0], [2.0, 5.0]]",
    "transposed[2]": "[2.0, 5.0]",
    "behind": "Tensor float32 [2] cpu [3.0, 4.0]",
    "brain": "Tensor bfloat16 [2] cpu [1.0, 2.0]",
    "lanes": "Tensor float32 of 4 lanes [2] cpu <elements of float32 of 4 lanes>",
    "scalar": "Tensor float32 [] cpu 4.0",
    "cuda": "Tensor float16 [2] cuda:1 <on cuda>",
    "nothing": "Tensor undefined",
    "managed": PLAIN,
    "versioned": PLAIN,
    "*pointer": PLAIN,
    "pointer[0]": PLAIN,
    "null": "(DLManagedTensor *) 0x0 <null tensor>",
}

pytestmark = pytest.mark.rotated_tests(turns=3)


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    with standing(SOURCE, tmp_path_factory.mktemp("looks")) as stopped:
        yield stopped


@pytest.mark.parametrize("name", SHOWN)
def test_it_is_shown(program, name):
    assert program.evaluate(name) == SHOWN[name]


def test_one_that_cannot_be_is_corrupt(program):
    assert "corrupt tensor" in program.evaluate("wrong")
    assert "device type 77" in program.evaluate("wrong")


def test_an_element_that_is_not_there(program):
    with pytest.raises(HarnessError, match="plain"):
        program.evaluate("plain[7]")
