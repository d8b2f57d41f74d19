"""Conditions: what is taken, and what is said of the rest. No torch, no C++."""

import pytest

from pyharness.model.conditions.condition import compile_condition
from pyharness.model.errors import UsageError
from pyharness.model.where import parse


@pytest.mark.parametrize(
    ("text", "inputs", "outputs"),
    [
        ("nan(out) or shape(in0)[0] == 1", True, True),
        ("absmax(out1) > 1e3", False, True),
        ("1 < numel(in0) <= 8", True, False),
        ('dtype(in0) != "float16" and not requires_grad(in2)', True, False),
        ("shape(in0) == (4, 8)", True, False),
        ("in1 == 2", True, False),
        ("defined(in3[1])", True, False),
        ("1 + 2 < 3", False, False),
    ],
)
def test_a_condition_says_what_it_needs(text, inputs, outputs):
    condition = compile_condition(text)
    assert (condition.needs_inputs, condition.needs_outputs) == (inputs, outputs)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nan(outt)", "Did you mean out"),
        ("nann(out)", "Did you mean nan"),
        ("finit(out)", "Did you mean finite"),
        ('dtype(in0) == "float3"', "Did you mean float32"),
        ("shape(in0)", "is a shape, not a number"),
        ("dtype(in0)", "is a text, not a number"),
        ("dtype(in0) > 'float32'", "Write == or !="),
        ("in0 is None", "defined(in0)"),
        ("nan(in0) and", "does not parse"),
        ("__import__('os').system('x')", "is nothing that a condition can have"),
        ("in0.shape", "is nothing that a condition can have"),
        ("[x for x in in0]", "is nothing that a condition can have"),
        ("shape(in0)[in1]", "is not a dimension"),
        ("nan(1 == 2, 3)", "takes 1 argument"),
        ("nan(shape(in0))", "takes a tensor"),
        ("in16 == 0", "in0 to in15"),
        ("~in0", "Write `not`"),
        ("(" * 300, "does not parse"),
        ("1" + " + (1" * 90 + ")" * 90, "too long"),
        ("1 or " * 500 + "1", "at most"),
    ],
)
def test_what_cannot_be_meant_is_one_clear_error(text, message):
    with pytest.raises(UsageError) as raised:
        compile_condition(text)
    assert message in str(raised.value)


def test_over_the_variables_of_a_place():
    names = [each.name for each in compile_condition("i == 3 and x > 1e3", ["i", "x"]).instructions]
    assert names.count("variable") == 2
    with pytest.raises(UsageError, match="This place has i, x"):
        compile_condition("j == 3", ["i", "x"])
    with pytest.raises(UsageError, match="numbers only"):
        compile_condition("numel(i) == 3", ["i"])


def test_the_rank_is_a_number_and_a_variable_of_that_name_comes_first():
    numbers = [each.number for each in compile_condition("rank == 3", rank=3).instructions if each.name == "constant"]
    assert numbers == [3, 3]
    assert compile_condition("rank == 3", ["rank"], rank=3).instructions[0].name == "variable"


def test_nothing_takes_time_that_grows_beyond_measure():
    with pytest.raises(UsageError):
        compile_condition("(" * 80 + "1" + " < 2)" * 80 + " + in0.x")


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("op:aten::mul when nann(out)", "Did you mean nan"),
        ("op:mul when nan(out)", "Write op:aten::mul"),
        ("node:MulBackward0 if x", "Write node:MulBackward0 when CONDITION"),
        ("native:f when nan(out)", "`when` is for op: and node: places"),
    ],
)
def test_a_place_with_a_condition_is_checked_as_it_is_read(place, message):
    with pytest.raises(UsageError) as raised:
        parse(place, [])
    assert message in str(raised.value)


def test_places_that_stop_at_ops():
    assert parse("op:aten::mul", []).is_native_op
    assert parse("op:aten::mul", []).is_generated
    assert parse("node:*Backward*", []).is_native_op
    conditional = parse("op:aten::mul when nan(out) or inf(out)", [])
    assert (conditional.is_native_op, conditional.is_generated) == (True, False)
    assert conditional.when == "nan(out) or inf(out)"
    for place in ("op:mul", "op:aten::mul if x > 1"):  # names and conditions that only Python knows
        assert (parse(place, []).is_native_op, parse(place, []).is_generated) == (False, True)
