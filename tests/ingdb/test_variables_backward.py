"""Autograd nodes where they run: the frame of their C++ code shows the node with the members of its author."""

import subprocess
import sys

import pytest
from variables_session import Looking

from kit.builds import tensor_kernel
from kit.paths import ROOT

pytestmark = pytest.mark.rotated_tests(turns=2)

WAITING = 4


@pytest.fixture(scope="module")
def look(tmp_path_factory):
    table = tmp_path_factory.mktemp("backward") / "table.json"
    program = subprocess.Popen(
        [sys.executable, ROOT / "tests/programs/tensor_zoo.py", tensor_kernel(), table],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    look = Looking()
    try:
        assert program.stdout.read(WAITING) == b"r" * WAITING
        look.attach(program.pid)
        look.thread = thread_in(look, "tensor_kernel::Waiting::apply")
        yield look
    finally:
        look.gdb.close()
        program.kill()
        program.communicate()


def thread_in(look, function):
    for thread in look.ask("ph-threads").values():
        frames = look.ask("ph-stack", thread=thread)["frames"]
        if any(frame["function"].startswith(function) for frame in frames):
            return thread
    raise LookupError(function)


def test_this_is_the_node_that_runs(look):
    this = look.variables("tensor_kernel::Waiting::apply", "Arguments")["this"]
    assert this["value"] == "<tensor_kernel::Waiting>"
    members = look.named(look.inside(this, "members")["handle"])
    assert (members["ready"]["value"], members["go"]["value"]) == ("1", "0")


def test_an_outer_node_is_another(look):
    this = look.variables("tensor_kernel::Nesting::apply", "Arguments")["this"]
    assert this["value"] == "<tensor_kernel::Nesting>"
    assert [child["value"] for child in look.children(look.inside(this, "next_functions")["handle"])] == [
        "<torch::autograd::AccumulateGrad>"
    ]


def test_gradients_are_tensors(look):
    gradients = look.variables("tensor_kernel::Waiting::apply", "Arguments")["gradients"]
    assert gradients["indexed"] == 1
    assert look.children(gradients["handle"])[0]["value"] == "Tensor float32 [3] cpu [1.0, 1.0, 1.0]"


def test_handles_of_another_thread_stay(look):
    level = look.level("tensor_kernel::Waiting::apply")
    scope = look.ask("ph-scopes", thread=look.thread, level=level)[0]
    other = next(thread for thread in look.ask("ph-threads").values() if thread != look.thread)
    look.ask("ph-forget-variables", thread=other)
    assert look.children(scope["handle"])
