"""The ops that fail on purpose fail as their docstrings say; those that end a process run in one of their own."""

import inspect
import os
import signal
import subprocess
import sys

import pytest
import torch

from kit import needs
from kit.paths import PROGRAMS
from pyharness.ops import faulty

PROGRAM = PROGRAMS / "faulty_op.py"


def run(*arguments):
    command = [sys.executable, str(PROGRAM), *arguments]
    # In an asan build the undefined behaviour is reported, and then happens as in the others.
    environment = os.environ | {"UBSAN_OPTIONS": "halt_on_error=0"}
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, env=environment)


@pytest.mark.rotated
@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["null_dereference"], signal.SIGSEGV),
        (["abort"], signal.SIGABRT),
        (["out_of_bounds_write", str(2**40)], signal.SIGSEGV),
    ],
)
def test_the_process_dies_of_its_signal(arguments, expected):
    done = run(*arguments)
    assert done.returncode == -expected, done.stderr
    assert "survived" not in done.stdout


def test_a_deadlock_holds_every_python_thread():
    done = run("deadlock")
    assert "survived" not in done.stdout
    assert done.returncode == 1, done.stderr
    assert "Timeout" in done.stderr
    assert "faulty.py" in done.stderr, "the stack of the thread that is inside the op"


def test_a_cpp_exception_becomes_a_python_one():
    with pytest.raises(RuntimeError, match="faulty_exception: 3 values refused"):
        faulty.exception(torch.ones(3))


def test_a_write_out_of_bounds_hits_the_neighbour():
    base = torch.full((6,), 5.0)
    faulty.out_of_bounds_write(base[:3])
    assert base.tolist() == [0, 0, 0, -1, 5, 5]


def test_an_input_is_overwritten_and_nobody_says_so():
    x = torch.tensor([-2.0, 1.0], requires_grad=True)
    y = x * 1
    z = y * y
    assert faulty.overwritten_input(y.detach()) == 2
    z.sum().backward()
    assert x.grad.tolist() == [4, 2]  # should be [-4, 2]


@needs.the_address_sanitizer()
def test_the_address_sanitizer_names_the_write():
    done = run("out_of_bounds_write", "1")
    assert "heap-buffer-overflow" in done.stderr
    assert "faulty_out_of_bounds_write_cpu" in done.stderr


def test_nan_in_backward_only_where_the_input_is_zero():
    x = torch.tensor([-2.0, 0.0, 3.0], requires_grad=True)
    output = faulty.nan_backward(x)
    output.sum().backward()
    assert output.tolist() == [2, 0, 3]
    assert x.grad.isnan().tolist() == [False, True, False]


def test_anomaly_mode_names_the_node_that_made_the_nan():
    x = torch.zeros(2, requires_grad=True)
    with (
        pytest.warns(UserWarning, match="Error detected in"),
        torch.autograd.set_detect_anomaly(True),
        pytest.raises(RuntimeError, match=r"FaultyNanBackward.* returned nan"),
    ):
        faulty.nan_backward(x).sum().backward()


def test_gradcheck_finds_the_wrong_gradient():
    x = torch.rand(3, dtype=torch.float64, requires_grad=True)
    torch.testing.assert_close(faulty.wrong_gradient(x), x**3)
    with pytest.raises(RuntimeError, match="Jacobian mismatch"):
        torch.autograd.gradcheck(faulty.wrong_gradient, (x,))


def test_every_faulty_op_says_what_to_expect():
    functions = [
        value for _, value in inspect.getmembers(faulty, inspect.isfunction) if value.__module__ == faulty.__name__
    ]
    registered = {name for name in dir(torch.ops.pyharness) if name.startswith("faulty_")}
    assert {f"faulty_{function.__name__}" for function in functions} >= registered
    assert all("Expect" in inspect.getdoc(function) for function in functions)


def test_an_unfit_input_is_refused():
    with pytest.raises(TypeError, match=r"faulty_abort: input must be float32, got Long of shape \[2\]"):
        faulty.abort(torch.zeros(2, dtype=torch.int64))
    with pytest.raises(ValueError, match=r"faulty_null_dereference: input must be contiguous and not empty"):
        faulty.null_dereference(torch.zeros(0))
