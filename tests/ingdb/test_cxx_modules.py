"""Modules of torch's C++ frontend, whose classes no debug information of the user's has, and their named parameters."""

import re
import sys

import pytest
from variables_session import Looking

from kit import builds
from kit.marks import line_of
from kit.paths import PROGRAMS
from pyharness.gdbmi.client import GdbError

SOURCE = PROGRAMS / "cxx_frontend.cpp"
FIRST = "own::Scale(weight [3, 2], bias [3])"
NET = "own::Net(first: own::Scale, second: own::Scale, running [2])"
ONES = "Tensor float32 [3, 2] cpu requires_grad [[1.0, 1.0], [1.0, 1.0], [1.0, 1.0]]"
SHOWN = {
    "net": NET,
    "base": NET,
    "*pointer": NET,
    "net->first": FIRST,
    "net->second": "own::Scale(weight [2, 2], bias [2]) in eval mode",
    "net->first->weight": ONES,
    "net->heads": "7",
    'named["first.weight"]': ONES,
    'named.contains("second.weight")': "true",
}
OPTIMIZERS = {
    "adam": "Adam(lr=0.01, 4 parameters)",
    "owned": "SGD(2 groups: lr=0.5, 2 parameters; lr=0.25, 1 parameter)",
    "either": "SGD(2 groups: lr=0.5, 2 parameters; lr=0.25, 1 parameter)",
}
MISSING = 'There is no key "first.wieght". It has "first.weight", "first.bias", "second.weight"'


@pytest.mark.slow
@pytest.mark.rotated_tests(turns=12)  # torch's headers take 18 s to compile
def test_modules_and_named_parameters(tmp_path):
    libraries = builds.linked_with_torch("torch", "torch_cpu", "c10")
    library = builds.compiled(SOURCE, ".so", "-O0", "-g", "-fPIC", "-shared", *libraries)
    script = tmp_path / "looks.py"
    script.write_text(f"import ctypes\nimport torch\nctypes.CDLL({str(library)!r}).look()\n")
    look = Looking("--args", sys.executable, str(script))
    try:
        look.gdb.command("-gdb-set breakpoint pending on")
        look.gdb.console(f"tbreak {SOURCE.name}:{line_of('look', SOURCE)}")
        look.gdb.console("run")
        look.gdb.console("python import gdb; gdb.set_convenience_variable('lwp', gdb.selected_thread().ptid[1])")
        look.thread = int(look.gdb.command("-data-evaluate-expression $lwp")["value"])
        told = {name: look.evaluate("look", name)["value"] for name in SHOWN}
        assert told == SHOWN
        with pytest.raises(GdbError, match=re.escape(MISSING)):
            look.evaluate("look", 'named["first.wieght"]')

        assert {name: look.evaluate("look", name)["value"] for name in OPTIMIZERS} == OPTIMIZERS
        variables = look.variables("look", "Locals")
        groups = look.children(variables["owned"]["handle"])
        assert [(each["name"], each["value"]) for each in groups][1] == ("group 1", "lr=0.25, 1 parameter")
        first = look.children(look.children(variables["owned"]["handle"])[0]["handle"])
        assert [(each["name"], each["value"]) for each in first][:1] == [("[0]", ONES)]
        assert variables["empty"]["value"].startswith("{")
        inside = {each["name"]: each for each in look.children(variables["net"]["handle"])}
        assert list(inside) == ["first", "second", "running", "training", "members"]
        assert (inside["first"]["value"], inside["training"]["value"]) == (FIRST, "true")
        assert [each["name"] for each in look.children(inside["first"]["handle"])] == ["weight", "bias", "training"]
        members = {each["name"]: each["value"] for each in look.children(inside["members"]["handle"])}
        assert members["heads"] == "7"
        named = [each["name"] for each in look.children(variables["named"]["handle"])]
        assert named == ['["first.weight"]', '["first.bias"]', '["second.weight"]', '["second.bias"]']
    finally:
        look.gdb.close()
