"""What a generated line's FX scope shows, and what the debuggers exchange."""

from pyharness.model.frames import FxPlace
from pyharness.model.source_map import MappedLine
from pyharness.model.variable import fx_scope


def test_the_fx_scope_of_a_mapped_line():
    entry = MappedLine(12, "norm", "call_function", "torch.ops.pyharness.rms_norm.default", "blocks.0", "model.py", 40)
    shown = {variable.name: variable for variable in fx_scope(entry.place, entry)}
    assert {name: variable.value for name, variable in shown.items()} == {
        "node": "norm",
        "op": "call_function",
        "target": "torch.ops.pyharness.rms_norm.default",
        "module": "blocks.0",
        "origin": "model.py:40",
    }
    assert shown["origin"].link == "model.py:40"


def test_what_nobody_recorded_says_so():
    shown = {variable.name: variable for variable in fx_scope(FxPlace("add", None, None))}
    assert list(shown) == ["node", "module", "origin"]
    assert shown["module"].note
    assert "under the harness" in shown["origin"].note


def test_the_root_module_has_a_name():
    assert fx_scope(FxPlace("add", "", "model.py:1"))[1].value == "<root>"
