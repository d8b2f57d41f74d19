"""Native places that gdb knows by another name than the person gives, or not as code of their own."""

import subprocess

import pytest

import pyharness
from pyharness.model.errors import HarnessError

SOURCE = """static inline int squared(int value) {
  return value * value;
}

int summed(int count) {
  int sum = 0;
  for (int i = 0; i < count; i++)
    sum += squared(i);
  return sum;
}
"""


@pytest.fixture
def program(tmp_path, monkeypatch):
    """A script with a library that was built from its folder, where ``there`` is a link to ``folder``."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "there").symlink_to("folder")
    (tmp_path / "folder/summed.c").write_text(SOURCE)
    (tmp_path / "calls.py").write_text("import ctypes\nctypes.CDLL('./summed.so').summed(3)\n")

    def build(flag):
        command = ["cc", "-g", flag, "-fPIC", "-shared", "-o", "summed.so", "folder/summed.c"]
        subprocess.run(command, check=True, cwd=tmp_path)
        return pyharness.debug(str(tmp_path / "calls.py"))

    return build


@pytest.mark.parametrize("folder", ["folder", "there"])
def test_a_folder_is_named_by_a_link(program, folder):
    with program("-O0") as stopped:
        assert stopped.run_to(f"native:{folder}/summed.c:9").frame.function == "summed"
        assert stopped.finish() == 0


def test_a_line_that_is_not_there_by_either_name(program):
    with program("-O0") as stopped, pytest.raises(HarnessError, match="There is no line 90"):
        stopped.run_to("native:there/summed.c:90")


def test_a_function_without_code_of_its_own(program):
    with program("-O2") as stopped, pytest.raises(HarnessError, match="has inlined squared into what calls it"):
        stopped.run_to("native:squared")
