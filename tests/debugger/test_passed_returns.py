"""Steps out end in the user's caller, whatever code between the two it is that debugpy never traces."""

import pytest

import pyharness

DATA_CLASS = """\
from dataclasses import dataclass
@dataclass
class Point:
    x: int
    def __post_init__(self):
        self.x += 1  # inner
def main():
    point = Point(1)  # outer
    return point
main()
"""
CALLED = """\
def called(*_):
    return len(_)  # inner
"""
CALLERS = {
    "without_a_file": (
        'exec("def made(v):\\n    r = called(v)\\n    return r\\n")\nmade = locals()["made"]',
        "made(1)",
    ),
    "a_generator": ('exec("def made(v):\\n    yield called(v)\\n")\nmade = locals()["made"]', "next(made(1))"),
    "attrs": ('exec(compile("def made(v): return called(v)", "<attrs generated init>", "exec"))', "made(1)"),
    "threading": (
        "import threading\nmade = threading.Condition()\nmade.acquire()",
        "made.wait_for(lambda: called(1))",
    ),
    "a_library": ("import re", 're.sub("a", lambda match: str(called(match)), "a")'),
}


def line_of(script, mark):
    return next(number for number, line in enumerate(script.read_text().splitlines(), 1) if line.endswith(f"# {mark}"))


def goes_out(script, inner, *, steps=1):
    with pyharness.debug(str(script)) as program:
        program.run_to(f"py:{inner}:{line_of(inner, 'inner')}")
        for _ in range(steps):
            stop = program.out()
        assert (stop.frame.file, stop.frame.line) == (str(script), line_of(script, "outer"))
        assert program.over().frame.line == line_of(script, "outer") + 1
        assert program.finish() == 0


def test_out_of_what_a_data_class_calls(tmp_path):
    script = tmp_path / "program.py"
    script.write_text(DATA_CLASS)
    goes_out(script, script)


@pytest.mark.rotated
@pytest.mark.parametrize("caller", CALLERS)
def test_out_of_what_such_code_calls(tmp_path, caller):
    makes, calls = CALLERS[caller]
    script = tmp_path / "program.py"
    script.write_text(f"{CALLED}{makes}\n{calls}  # outer\nend = 1\n")
    goes_out(script, script, steps=2 if "lambda" in calls else 1)


def test_out_of_a_module_that_is_imported(tmp_path):
    script, imported = tmp_path / "program.py", tmp_path / "imported.py"
    imported.write_text("a = 1  # inner\nb = 2\n")
    script.write_text("import imported  # outer\nend = 1\n")
    goes_out(script, imported)


def test_out_by_an_exception(tmp_path):
    """The step ends where the exception is handled, or in the caller that it leaves."""
    script = tmp_path / "program.py"
    script.write_text(
        'def called(v):\n    raise ValueError  # inner\nexec("def made(v):\\n    called(v)\\n")\n'
        "try:\n    made(1)  # outer\nexcept ValueError:\n    pass\nend = 1\n"
    )
    with pyharness.debug(str(script)) as program:
        program.run_to(f"py:{script}:2")
        assert program.out().frame.line in {5, 6}
        assert program.finish() == 0
