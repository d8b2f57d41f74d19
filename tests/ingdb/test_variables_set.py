"""Setting variables of a living program: native ones, and elements of tensors."""

import math

import pytest
from variables_session import looking_into

from pyharness.gdbmi.client import GdbError

FORWARD, KERNEL = "Net.forward", "tensor_kernel::wait"


@pytest.fixture(scope="module")
def alive(tmp_path_factory):
    with looking_into(tmp_path_factory.mktemp("alive")) as look:
        yield look


def put(look, handle, name, value):
    return look.ask("ph-set-variable", thread=look.thread, handle=handle, name=name, value=value)


def test_a_local_variable(alive):
    scope = alive.scope(KERNEL, "Locals")
    assert put(alive, scope["handle"], "byte", "65")["value"] == "65 'A'"
    assert put(alive, scope["handle"], "byte", "'r'")["value"] == "114 'r'"


def test_an_element_of_a_vector(alive):
    hundred = alive.variables(KERNEL, "Locals")["hundred"]
    assert put(alive, hundred["handle"], "[99]", "ready + 41")["value"] == "42"
    assert alive.evaluate(KERNEL, "long_sizes.Data[99]")["value"] == "42"


@pytest.mark.parametrize(
    ("name", "value", "shown"),
    [("half", "-0.5", "-0.5"), ("integers", "-7", "-7"), ("booleans", "False", "False"), ("scalar", "1", None)],
)
def test_an_element_of_a_tensor(alive, name, value, shown):
    tensor = alive.evaluate(FORWARD, f"tensors['{name}']")
    if shown is None:
        with pytest.raises(GdbError, match="cannot be set"):
            put(alive, tensor["handle"], "[0]", value)
    else:
        assert put(alive, tensor["handle"], "[0]", value)["value"] == shown
        assert alive.evaluate(FORWARD, f"tensors['{name}'][0]")["value"] == shown


def test_what_does_not_fit_is_refused(alive):
    integers = alive.evaluate(FORWARD, "tensors['integers']")
    with pytest.raises(GdbError, match="'many' is not a value of int64"):
        put(alive, integers["handle"], "[0]", "many")
    scope = alive.scope(KERNEL, "Locals")
    with pytest.raises(GdbError, match="Cannot set it to 'nosuch'"):
        put(alive, scope["handle"], "byte", "nosuch")
    with pytest.raises(GdbError, match="cannot be set"):
        put(alive, alive.scope(FORWARD, "Locals")["handle"], "x", "1")


def test_nan(alive):
    cube = alive.inside(alive.evaluate(FORWARD, "tensors['cube']"), "[0]", "[0]")
    assert math.isnan(float(put(alive, cube["handle"], "[0]", "nan")["value"]))


def test_the_stack_is_that_of_memory_as_it_is_now(alive):
    """Somebody may write to the stack between two looks at it, in gdb's console as by a variable."""
    whole = alive.stack()
    alive.python("import gdb; place = int(gdb.newest_frame().older().read_register('rsp')) - 8")
    alive.python("before = int(gdb.parse_and_eval(f'*(long*){place}'))")
    alive.python("gdb.execute(f'set var *(long*){place} = 0')")
    cut = alive.stack()
    assert cut[0] == whole[0]
    assert whole[1] not in cut
    alive.python("gdb.execute(f'set var *(long*){place} = {before}')")
    assert alive.stack() == whole
