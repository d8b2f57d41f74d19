"""The handles of nanobind show the Python value that they hold, at a native stop."""

import pyharness
from kit import kinds
from kit.marks import line_of
from kit.paths import search_path

SUMS = """import array
import nanobind_kind

numbers = array.array("f", range(6))
table = memoryview(numbers).cast("B").cast("f", shape=[2, 3])
nanobind_kind.summed(table, memoryview(array.array("q", [7, 8])))
"""
SUMMED = f"native:nanobind_kind.cpp:{line_of('summed', kinds.source('nanobind'))}"
COUNTED = f"native:nanobind_kind.cpp:{line_of('counted', kinds.source('nanobind'))}"


def test_handles_show_what_they_hold(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", search_path(str(kinds.built("nanobind"))))
    script = tmp_path / "counts.py"
    script.write_text("import nanobind_kind\nnanobind_kind.counted(2.5, {'a': 1}, [1, 2])\n")
    with pyharness.debug(str(script)) as program:
        program.run_to(COUNTED)
        values = {name: program.evaluate(name) for name in ("thing", "words", "numbers", "text")}

    assert values == {"thing": "2.5", "words": "{'a': 1}", "numbers": "[1, 2]", "text": "'hello'"}


def test_an_ndarray_is_a_tensor(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", search_path(str(kinds.built("nanobind"))))
    script = tmp_path / "sums.py"
    script.write_text(SUMS)
    shown = {
        "table": "Tensor float32 [2, 3] cpu [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]",
        "table[1][2]": "5.0",
        "any": "Tensor int64 [2] cpu [7, 8]",
        "none": "Tensor undefined",
        "$ph_elements(table)[1]": "{3, 4, 5}",
    }
    with pyharness.debug(str(script)) as program:
        program.run_to(SUMMED)
        assert {name: program.evaluate(name) for name in shown} == shown
