"""A step into a line passes by what torch imports meanwhile for itself; a breakpoint in there ends it as ever."""

import pytest

import pyharness

pytestmark = pytest.mark.rotated_tests(turns=2)

TORCH = "def call(function, value):\n    import torch.late\n    return function(value)\n"
LATE = "import other\nclass Late(metaclass=other.Meta): pass\n"
OTHER = """\
class Meta(type):
    def __new__(cls, *args):
        made = super().__new__(cls, *args)
        return made
"""
PROGRAM = """\
import torch
def doubled(value):
    return value * 2
doubled(1)
def main():
    double = torch.call(doubled, 3)
    return double
main()
"""
OP = """\
import torch
@torch.library.custom_op("ours::double", mutates_args=())
def double(values: torch.Tensor) -> torch.Tensor:
    return values * 2
one = torch.ones(2)
double(one)
print("end")
"""


@pytest.fixture
def script(tmp_path, monkeypatch):
    """A program, a torch that imports late, and a package that it imports."""
    packages = tmp_path / "site-packages"
    (packages / "torch").mkdir(parents=True)
    (packages / "torch" / "__init__.py").write_text(TORCH)
    (packages / "torch" / "late.py").write_text(LATE)
    (packages / "other.py").write_text(OTHER)
    (tmp_path / "program.py").write_text(PROGRAM)
    monkeypatch.setenv("PYTHONPATH", str(packages))
    return tmp_path / "program.py"


def at(stop):
    return stop.frame.function, stop.frame.line


def test_a_step_goes_on_behind_the_import(script):
    with pyharness.debug(str(script)) as program:
        program.run_to(f"py:{script}:6")
        assert at(program.into()) == ("doubled", 3)
        assert at(program.out()) == ("main", 6)
        assert program.finish() == 0


def test_a_breakpoint_in_the_import_ends_the_step(script):
    with pyharness.debug(str(script)) as program:
        program.run_to(f"py:{script}:6")
        program.set_breakpoint(f"py:{script.parent}/site-packages/other.py:3")
        assert at(program.into()) == ("__new__", 3)
        assert program.finish() == 0


def test_a_step_from_a_breakpoint_in_the_import_is_another_one(script):
    with pyharness.debug(str(script)) as program:
        program.run_to(f"py:{script}:6")
        program.set_breakpoint(f"py:{script.parent}/site-packages/other.py:3")
        assert at(program.into()) == ("__new__", 3)
        assert at(program.over()) == ("__new__", 4)
        assert at(program.out()) == ("main", 6)
        assert program.finish() == 0


def test_a_custom_op_is_stepped_into_at_its_first_call(tmp_path):
    (tmp_path / "program.py").write_text(OP)
    with pyharness.debug(str(tmp_path / "program.py")) as program:
        program.run_to(f"py:{tmp_path}/program.py:6")
        assert at(program.into()) == ("double", 4)
        assert program.finish() == 0
