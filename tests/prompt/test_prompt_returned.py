"""What a step that leaves a function shows of what that has returned."""

import pytest

from kit.dialogue import blocks

pytestmark = pytest.mark.rotated_tests(turns=2)


def test_what_a_destructor_returned_is_not_the_functions_value(piped, tmp_path):
    """One of a library's runs as the function ends, and returns to the same line."""
    program = tmp_path / "leaves.py"
    program.write_text("import tempfile\ndef f():\n    file = tempfile.NamedTemporaryFile()\n    return 5\nf()\nf()\n")
    done = piped(["b 4", "c", "n", "rv", "c", "out"], program=program)
    assert "__del__" not in done.stdout + done.stderr
    done = piped(["b 4", "c", "out"], program=program)
    assert "   f() returned 5\n" in done.stdout


def test_what_a_library_returned_has_its_name(piped, tmp_path):
    """A library's function has called the user's, which has the same name."""
    program = tmp_path / "replaces.py"
    program.write_text('import re\ndef sub(match):\n    return "x"\nre.sub("a", sub, "aba")\n')
    for step in ("n", "out"):
        done = piped(["b 3 hits 2", "c", step], program=program)
        assert "   re.sub() returned 'xbx'\n" in done.stdout


def test_what_a_function_returned_is_shown_where_the_step_out_of_it_ends(piped, line):
    done = piped([f"b py:prompted.py:{line['loop']}", "c", "delete", "out", "retval", "n", "rv"])
    shown = blocks(done.stdout)
    assert "   total() returned 12\n" in shown["out"]
    assert shown["retval"].strip() == "12"
    assert "returned" not in shown["n"]
    assert "The last step has left no function by a return, or none that gives a value." in done.stderr
