"""While torch is imported, whatever can be stopped in is: torch's own lines, and a backend that torch imports."""

from importlib.util import find_spec
from pathlib import Path

import pytest

import pyharness

pytestmark = pytest.mark.rotated_tests(turns=5)


BACKEND = """\
def begin():
    return "began"
"""
PROGRAM = """\
import torch
def after():
    return torch.__version__
after()
"""
ENTRY_POINTS = """\
[torch.backends]
ours = backend_of_ours:begin
"""


def line_of(file, text):
    return next(number for number, line in enumerate(file.read_text().splitlines(), 1) if line.startswith(text))


def test_lines_within_and_after_the_import(tmp_path):
    script, backend = tmp_path / "program.py", tmp_path / "backend_of_ours.py"
    script.write_text(PROGRAM)
    backend.write_text(BACKEND)
    metadata = tmp_path / "backend_of_ours-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: backend_of_ours\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(ENTRY_POINTS)
    version = Path(find_spec("torch").origin).with_name("version.py")
    places = [(version, line_of(version, "__version__")), (backend, 2), (script, 3)]
    with pyharness.debug(str(script)) as program:
        for file, line in places:
            stop = program.run_to(f"py:{file}:{line}")
            assert (stop.frame.file, stop.frame.line) == (str(file), line)
        assert program.finish() == 0


def test_a_step_over_the_import_ends_behind_it(tmp_path):
    script = tmp_path / "program.py"
    script.write_text(PROGRAM)
    with pyharness.debug(str(script)) as program:
        program.run_to(f"py:{script}:1")
        assert [program.over().frame.line for _ in range(2)] == [2, 4]
        assert program.into().frame.line == 3
        assert program.finish() == 0
