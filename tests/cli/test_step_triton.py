"""``pyharness step`` into kernels of Triton's that run as Python, on the CPU (``TRITON_INTERPRET=1``)."""

import json

import pytest

from kit import marks, needs

pytestmark = [pytest.mark.rotated_tests(turns=5), needs.module("triton", "pip install triton")]

PROGRAM = """
import torch, triton
import triton.language as tl

@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)  # @offsets
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    doubled = twice(x)  # @calls
    tl.store(out_ptr + offsets, doubled + tl.load(y_ptr + offsets, mask=mask), mask=mask)

@triton.jit
def twice(x):
    return x * 2  # @twice

x, y, out = torch.arange(10.0), torch.ones(10), torch.empty(10)
add_kernel[(3,)](x, y, out, 10, BLOCK=4)  # @launch
print(out)  # @after
"""


@pytest.fixture
def stops(pyharness, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(PROGRAM)

    def run(*words):
        words = [f"py:script.py:{marks.line_of(word[1:], script)}" if word.startswith("@") else word for word in words]
        environment = {**pyharness.environment, "TRITON_INTERPRET": "1"}
        result = pyharness("step", script, *words, "--json", cwd=tmp_path, env=environment)
        assert result.returncode == 0, result.stderr
        found = json.loads(result.stdout)["stops"]
        names = {marks.line_of(name, script): name for name in ("offsets", "calls", "twice", "launch", "after")}
        return [(stop["function"], names.get(stop["line"], stop["line"])) for stop in found], found

    return run


def test_into_a_launch_is_the_kernels_first_line_and_values_are_arrays(stops):
    words = ("--at", "@launch", "--into", "--stack", "--over", "--print", "offsets", "--kill")
    places, (_, kernel, after) = stops(*words)
    assert places[:2] == [("<module>", "launch"), ("add_kernel", "offsets")]
    assert after["printed"]["offsets"] == "array([0, 1, 2, 3], dtype=int32)"
    interpreter = [each for each in kernel["stack"] if "/triton/" in (each["file"] or "")]
    assert interpreter
    assert all(each["plumbing"] for each in interpreter)


def test_a_function_that_a_kernel_calls_is_stepped_into_and_out_of(stops):
    places, _ = stops("--at", "@calls", "--into", "--out", "--kill")
    assert places[:2] == [("add_kernel", "calls"), ("twice", "twice")]
    assert places[2][0] == "add_kernel"


def test_over_a_launch_is_the_next_line(stops):
    places, _ = stops("--at", "@launch", "--over", "--kill")
    assert places == [("<module>", "launch"), ("<module>", "after")]
