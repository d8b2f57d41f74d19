"""A folder whose name is no UTF-8: Python steps there; what gdb's Python cannot read is said with its remedy."""

import os
import subprocess

import pytest

SOURCE = "int job(int n) {\n  return n * 2;\n}\n"
CALLS = 'import ctypes\nlibrary = ctypes.CDLL("./job.so")\nprint(library.job(3))\n'


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / os.fsdecode(b"\xff\xfe")
    path.mkdir()
    (path / "job.c").write_text(SOURCE)
    (path / "calls.py").write_text(CALLS)
    subprocess.run(["gcc", "-g", "-fPIC", "-shared", "-o", "job.so", "job.c"], cwd=path, check=True)
    return path


def test_python_is_stepped_and_native_code_is_refused_by_name(pyharness, folder):
    done = pyharness("step", "calls.py", "--at", "py:calls.py:3", cwd=folder)
    assert "breakpoint · python · <module> · calls.py:3" in done.stdout
    assert (done.returncode, done.stderr) == (0, "")
    refused = pyharness("step", "calls.py", "--at", "native:job", cwd=folder)
    assert refused.returncode == 1
    assert r"a name that is no UTF-8: " in refused.stderr
    assert r"\xff\xfe/job.c.\nRename what it is of".replace(r"\n", "\n") in refused.stderr
