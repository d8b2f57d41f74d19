"""Expectations against stops: pure."""

import pytest

from pyharness.model.errors import HarnessError
from pyharness.model.frames import AutogradNode, Frame, FxPlace
from pyharness.model.stops import Stop
from pyharness.session import matching
from pyharness.session.expect import check, check_ended, same_file, same_function
from pyharness.session.matching import matches_text
from pyharness.session.plan import Expectation

KERNEL = Frame("native", "pyharness::ops::(anonymous namespace)::rms_norm_cpu(at::Tensor const&)", "/src/rms.cpp", 7)
FORWARD = Frame("python", "forward", "/gen/Net_1.py", 9, FxPlace("norm", "blocks.0.norm", "/home/me/model.py:4"))
MAIN = Frame("python", "<module>", "/home/me/train.py", 3)


def mismatches(stop, **wanted):
    printed, stack = wanted.pop("printed", {}), wanted.pop("stack", ())
    fields = {key.replace("fx_", "fx."): value for key, value in wanted.items()}
    return [each.key for each in check(Expectation(1, 1, fields, printed, stack), stop)]


@pytest.mark.parametrize("wanted", ["rms_norm_cpu", "ops::rms_norm_cpu", "pyharness::ops::rms_norm_cpu"])
def test_a_native_function_may_be_named_short(wanted):
    assert same_function(wanted, KERNEL.function)
    assert not same_function(wanted[1:], KERNEL.function)


def test_a_file_is_matched_from_its_end_by_folders():
    assert same_file("rms.cpp", "/src/rms.cpp")
    assert same_file("src/rms.cpp", "/a/src/rms.cpp")
    assert same_file("generated/*_1.py", "/x/generated/Net_1.py")
    assert not same_file("s.cpp", "/src/rms.cpp")


def test_text_is_a_regular_expression_unless_it_begins_with_a_tilde():
    assert matches_text("^tensor.*1", "tensor([\n1])")
    assert matches_text("~[1.]", "x [1.] y")
    assert not matches_text("~^tensor", "tensor")
    assert not matches_text("^(a|b)+$", "ab\ud800c")


@pytest.mark.parametrize("pattern", ["(a+)+b", "(a|a)*b", "(a|aa)+$c"])
def test_a_pattern_that_backtracks_is_given_up(pattern, monkeypatch):
    monkeypatch.setattr(matching, "PATIENCE", 0.5)
    with pytest.raises(HarnessError, match=r"could not be matched with 40 characters within 0.5 s"):
        matches_text(pattern, "a" * 40)


def test_a_long_text_is_searched_like_a_short_one():
    assert matches_text("x$", "a" * 20_000 + "x")
    assert not matches_text("y$", "a" * 20_000 + "x")


def test_a_stop_that_is_as_expected_has_no_mismatch():
    stop = Stop("step", FORWARD, 1, printed={"x": "tensor([1.])"}, stack=(KERNEL, FORWARD, MAIN))
    stack = ({"function": "rms_norm_cpu"}, {"function": "<module>", "file": "train.py"})
    assert not mismatches(
        stop,
        function="forward",
        file="Net_*.py",
        line=9,
        language="python",
        reason="step",
        fx_node="norm",
        fx_module="blocks.0.norm",
        fx_origin="model.py:4",
        printed={"x": "~[1.]"},
        stack=stack,
    )


def test_each_thing_that_differs_is_told():
    stop = Stop("step", MAIN, 1, stack=(FORWARD, MAIN))
    wanted = {"function": "f", "line": 4, "fx_node": "norm", "reason": "step", "printed": {"y": "1"}}
    assert mismatches(stop, **wanted) == ["function", "line", "fx.node", "printed.y"]


def test_a_stack_is_matched_in_its_order():
    stop = Stop("step", FORWARD, 1, stack=(KERNEL, FORWARD, MAIN))
    assert not mismatches(stop, stack=({"function": "forward"}, {"function": "<module>"}))
    assert mismatches(stop, stack=({"function": "<module>"}, {"function": "forward"})) == ["stack_contains"]


def test_an_autograd_node_is_known_by_a_part_of_its_name():
    apply = Frame("native", "CppNode::apply", autograd=AutogradNode("CppNode<mine::Norm>", 18, 0))
    stop = Stop("step", KERNEL, 1, stack=(KERNEL, apply, MAIN))
    assert not mismatches(stop, stack=({"autograd": "mine::Norm"},))
    assert mismatches(stop, stack=({"autograd": "mine::Nrom"},)) == ["stack_contains"]
    assert mismatches(stop, autograd="Norm") == ["autograd"]


def test_the_end_of_the_program_can_be_expected():
    assert not check_ended(Expectation(1, 1, {"reason": "ended"}))
    keys = [each.key for each in check_ended(Expectation(1, 1, {"reason": "step", "line": 3}, {"x": "1"}))]
    assert keys == ["reason", "line", "printed.x"]
