"""Frames of the interpreter's loop that have no name, as in Debian's Python 3.14, are known by what they hold."""

import subprocess

import pytest

from kit.interpreters import cases, interpreters, waiting
from kit.paths import ROOT

pytestmark = pytest.mark.rotated_tests(turns=2)
MARKED = [name for name in interpreters() if not name.startswith("3.9")]
ASK = """
from pyharness.ingdb.functions.native_names import name_of
from pyharness.ingdb.stack.interpreter_loop import holds_loop, runs_python
frame = gdb.newest_frame()
while frame is not None:
    name = name_of(frame)[0]
    if holds_loop(frame) or runs_python(frame):
        print("loop", name.partition(".")[0], holds_loop(frame), runs_python(frame))
    frame = frame.older()
"""


@pytest.mark.parametrize("python", cases(MARKED))
def test_each_frame_of_the_loop_holds_one(python, tmp_path):
    script = tmp_path / "ask.py"
    script.write_text(ASK, encoding="utf-8")
    with waiting(interpreters()[python], "py_frames.py") as (process, said):
        commands = ["set debuginfod enabled off", f"source {ROOT}/pyharness/ingdb/load.py", f"source {script}"]
        words = [word for command in commands for word in ("-ex", command)]
        done = subprocess.run(
            ["gdb", "-nx", "-batch", "-p", str(process.pid), *words], capture_output=True, text=True, check=True
        )
    loops = [line for line in done.stdout.splitlines() if line.startswith("loop ")]
    assert len(loops) > 1, done.stdout + done.stderr
    ways_in = {"loop _PyEval_EvalFrame False True"}  # calls the loop, and is inlined in some builds
    assert set(loops) - ways_in <= {"loop _PyEval_EvalFrameDefault True True", "loop ?? True True"}, said["version"]
