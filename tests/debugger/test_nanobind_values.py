"""The handles of nanobind show the Python value that they hold, at a native stop."""

import pyharness
from kit import kinds
from kit.marks import line_of
from kit.paths import search_path

COUNTED = f"native:nanobind_kind.cpp:{line_of('counted', kinds.source('nanobind'))}"


def test_handles_show_what_they_hold(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", search_path(str(kinds.built("nanobind"))))
    script = tmp_path / "counts.py"
    script.write_text("import nanobind_kind\nnanobind_kind.counted(2.5, {'a': 1}, [1, 2])\n")
    with pyharness.debug(str(script)) as program:
        program.run_to(COUNTED)
        values = {name: program.evaluate(name) for name in ("thing", "words", "numbers", "text")}

    assert values == {"thing": "2.5", "words": "{'a': 1}", "numbers": "[1, 2]", "text": "'hello'"}
