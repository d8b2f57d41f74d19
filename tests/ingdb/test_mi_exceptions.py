"""C++ exceptions where they are thrown and caught: type, message and the user's line, without libstdc++'s symbols."""

import sys

import pytest
from mi_session import Attached, capable, line_of

from kit import builds
from kit.paths import PROGRAMS
from pyharness.debugger.native.exceptions import NativeExceptions

pytestmark = pytest.mark.rotated_tests(turns=5)


@pytest.fixture(params=[(), ("-static-libstdc++", "-static-libgcc")], ids=["shared", "static"])
def program(request):
    with Attached([capable(*request.param)]) as attached:
        yield attached


THROWN = [
    ("f", "std::runtime_error", ("std::exception",), "it failed", "fail"),
    ("u", "capable::Refused", ("std::exception",), "for a reason", "refuse"),
    ("g", "std::out_of_range", ("std::logic_error", "std::exception"), "vector::_M_range_check: __n", "out_of_range"),
    ("n", "int", (), "42", "throw_number"),
]


def test_what_the_user_throws(program):
    exceptions = NativeExceptions(program.native)
    exceptions.stop_at(throw=[])
    for letter, kind, bases, what, mark in THROWN:
        program.say(letter)
        reason, thread, _ = program.stop()
        assert reason == "exception", program.story()
        found = exceptions.info(thread)
        assert (found.kind, found.type, found.bases) == ("throw", kind, bases)
        assert found.what.startswith(what)
        assert found.frame.line == line_of(mark)
        program.native.threads.resume(thread)
        assert program.heard() == f"done {letter}"


def test_where_it_is_caught(program):
    exceptions = NativeExceptions(program.native)
    exceptions.stop_at(catch=[])
    for letter, kind, bases, what, _ in THROWN:
        program.say(letter)
        reason, thread, _ = program.stop()
        assert reason == "exception", program.story()
        found = exceptions.info(thread)
        assert (found.kind, found.type, found.bases, found.frame.line) == ("catch", kind, bases, line_of("caught"))
        assert found.what.startswith(what)
        program.native.threads.resume(thread)
        assert program.heard() == f"done {letter}"


def test_only_the_types_that_are_asked_for(program):
    exceptions = NativeExceptions(program.native)
    exceptions.stop_at(throw=["std::logic_error", "capable::*"])
    program.say("fgn")
    _, thread, _ = program.stop()
    assert exceptions.info(thread).type == "std::out_of_range"
    exceptions.stop_at()
    program.native.threads.resume(thread)
    program.say("u")
    assert [program.heard() for _ in range(4)] == ["done f", "done g", "done n", "done u"]


TENSORS = PROGRAMS / "watched_tensors.py"


@pytest.fixture(scope="module")
def torch_program():
    with Attached([sys.executable, str(TENSORS), str(builds.tensor_kernel())]) as attached:
        yield attached


def test_an_error_of_torch_that_the_user_raises(torch_program):
    exceptions = NativeExceptions(torch_program.native)
    exceptions.stop_at(throw=[])
    torch_program.say("pe")  # the first is raised in Python and only passes through the kernel
    reason, thread, _ = torch_program.stop()
    assert reason == "exception"
    found = exceptions.info(thread)
    assert found.type == "c10::Error"
    assert found.what.startswith("Expected ::write(static_cast<int>(ready), &byte, 1) == 1 to be true")
    assert found.frame.function == "tensor_kernel::wait"
    exceptions.stop_at()
    torch_program.native.threads.resume(thread)
    assert [torch_program.heard(), torch_program.heard()] == ["done p", "done e"]


def test_an_error_of_python_that_passes_through_the_users_code(torch_program):
    exceptions = NativeExceptions(torch_program.native)
    exceptions.stop_at(throw=[], origin="through")
    torch_program.say("p")
    _, thread, _ = torch_program.stop()
    found = exceptions.info(thread)
    assert (found.type, found.what) in {
        ("python_error", "the error that is set in Python"),
        ("python_error", "LookupError: 'no clone'"),
        ("pybind11::error_already_set", "LookupError: 'no clone'"),
    }
    assert found.frame.function.startswith("tensor_kernel::identity")
    exceptions.stop_at()
    torch_program.native.threads.resume(thread)
    assert torch_program.heard() == "done p"
