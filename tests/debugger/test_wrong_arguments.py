"""What the Python API is given: paths as `subprocess` takes them; what is no text is refused by its name."""

import io
import sys
from pathlib import Path

import pytest

import pyharness
from pyharness.model.errors import UsageError


@pytest.fixture
def script(tmp_path):
    path = tmp_path / "says.py"
    path.write_text("import sys\nname = sys.argv[1]\nsys.exit(len(sys.argv))\n")
    return path


def test_paths_are_taken_as_they_are(script, tmp_path):
    with pyharness.debug(script, tmp_path, python=Path(sys.executable), cwd=tmp_path, stdout=None) as program:
        program.run_to(f"py:{script}:3")
        assert program.evaluate("name") == repr(str(tmp_path))
        for wrong in ({"where": None}, {"where": 3}):
            with pytest.raises(UsageError, match="where must be a string or a path, not"):
                program.run_to(**wrong)
        with pytest.raises(UsageError, match="expression must be a string or a path, not None"):
            program.evaluate(None)
        with pytest.raises(UsageError, match="There is no frame '1'"):
            program.evaluate("name", "1")
        with pytest.raises(UsageError, match=r"message must be a string or a path, not int \(3\)"):
            program.log(f"py:{script}:3", 3)
        assert program.finish() == 2


WRONG = {
    "script must be a string or a path, not None": {"script": None},
    "script must be a string or a path, not bytes": {"script": b"says.py"},
    "python must be a string or a path, not int": {"python": 3},
    "cwd must be a string or a path, not int": {"cwd": 3},
    "env must be a mapping of strings, not list": {"env": ["A=1"]},
    r"env\['A'\] must be a string or a path, not int \(1\)": {"env": {"A": 1}},
    "include must be a list of strings, not None": {"include": None},
    "include must be a list of strings, not str": {"include": "*/aten/*"},
    r"debug_kernels must be True or False, not str \('x'\)": {"debug_kernels": "x"},
    "debug_kernels must be True or False, not None": {"debug_kernels": None},
    "module must be True or False, not int": {"module": 1},
    "crashes must be True or False, not str": {"crashes": "x"},
    r"stdout must be an open file with a descriptor, not str \('x'\)": {"stdout": "x"},
    "stdout must be an open file with a descriptor, not StringIO": {"stdout": io.StringIO()},
    "stdout must be an open file descriptor, not int": {"stdout": 1 << 20},
    "stdout must be an open file descriptor, not bool": {"stdout": True},
    "pass_fds must be a list of file descriptors, not int": {"pass_fds": 3},
    r"pass_fds\[1\] must be an open file descriptor, not str": {"pass_fds": [0, "1"]},
    "progress must be a function or None, not str": {"progress": "x"},
    "notes must be a function or None, not list": {"notes": []},
    "time limit of an expression cannot be": {"eval_timeout": "x"},
}


@pytest.mark.parametrize(("said", "given"), WRONG.items(), ids=WRONG)
def test_what_is_no_text_is_refused_by_its_name(script, said, given):
    with pytest.raises(UsageError, match=said):
        pyharness.debug(**{"script": script, **given})


ATTACHED = {
    "children must be True or False, not str": {"children": "x"},
    "debug_kernels must be True or False, not int": {"debug_kernels": 0},
    "crashes must be True or False, not None": {"crashes": None},
    "on_child must be a function or None, not int": {"on_child": 3},
    "child_wait cannot be nan s": {"child_wait": float("nan")},
    "seconds cannot be -1 s": {"seconds": -1},
    "seconds cannot be 'x' s": {"seconds": "x"},
}


@pytest.mark.parametrize(("said", "given"), ATTACHED.items(), ids=ATTACHED)
def test_what_attach_cannot_take_is_refused_by_its_name(said, given):
    with pytest.raises(UsageError, match=said):
        pyharness.attach(1, **given)


def test_an_argument_of_the_program_that_is_no_text(script):
    with pytest.raises(UsageError, match=r"arguments\[1\] must be a string or a path, not int \(1\)"):
        pyharness.debug(script, "a", 1)
