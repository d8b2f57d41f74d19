"""What is said at the end of a place that never stopped: that its code ran, how often, and why that did not count."""

import subprocess

import pytest

from kit.gdb import Gdb

SOURCE = "int counted(int number) {\n  return number * 2;\n}\nint never(int number) {\n  return number;\n}\n"
SCRIPT = """import ctypes
library = ctypes.CDLL("./counted.so")
def count(number):
    return library.counted(number)
def idle():
    pass
for number in range(3):
    count(number)
"""


@pytest.mark.rotated
@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("native:counted if number > 10", "never stopped. Its code ran 3 times; its condition was never true."),
        ("native:counted.c:2 if number > 10", "never stopped. Its code ran 3 times; its condition was never true."),
        ("native:counted hits 9", "never stopped. Its code ran 3 times; it was to stop at other hits."),
        ("native:never if number > 10", "was never reached. Its code never ran."),
        ("py:script.py:4 hits 9", "never stopped. Its code ran 3 times; it was to stop at other hits."),
        ("py:script.py:4 if number > 10", "that line ran 3 times, its condition was never true there."),
        ("py:script.py:6 if True", "that line never ran."),
    ],
)
def test_it_tells_whether_its_code_ran(tmp_path, place, said):
    (tmp_path / "counted.c").write_text(SOURCE)
    subprocess.run(["cc", "-g", "-fPIC", "-shared", "-o", "counted.so", "counted.c"], check=True, cwd=tmp_path)
    (tmp_path / "script.py").write_text(SCRIPT)
    gdb = Gdb(tmp_path, f"ph-break {place}", "ph-run", program=tmp_path / "script.py")
    assert gdb.status != 0
    gdb.has("The program ended with exit code 0.", said)


def test_a_place_that_is_deleted_leaves_nothing(tmp_path):
    gdb = Gdb(tmp_path, "ph-break native:counted if number > 10", "delete 1", "ph-break", "maint info breakpoints")
    gdb.has("No places.")
    assert "counted" not in gdb.text.rpartition("No places.")[2]


def test_a_script_that_is_not_there_is_said_before_gdb_has_a_program(tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT)
    gdb = Gdb(tmp_path, "ph-run", program="scirpt.py")
    gdb.has("There is no script 'scirpt.py'.", "Did you mean script.py?")
    assert "Traceback" not in gdb.text
