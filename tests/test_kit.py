"""The tests' own house: what they share is the kit's, and nothing is skipped but for the kit's reasons."""

import re
import subprocess
import sys
from fnmatch import fnmatch

import pytest

from kit import marks
from kit.paths import ROOT, TESTS

UNLOADABLE = "import sys; sys.modules['pyharness._C'] = None; sys.path.insert(0, sys.argv[1])\n"
UNLOADABLE += "from kit import needs; print(needs.debug_information().args)"
OWN_PATH = {
    "test_export.py": "the examples that it imports",
    "test_fx_verify_kernels.py": "a program of its own, in its text",
    "test_kernel_values.py": "a program of its own, in its text",
    "test_mi_fuzz.py": "a program of its own, in its text",
    "test_oldest_python.py": "a program of its own, in its text",
    "write_ranks_page.py": "a program that node runs",
}
"""Files that edit ``sys.path`` → for what."""


def lines_with(pattern):
    """Where a line of the tests, outside of the kit, has the pattern."""
    for path in TESTS.rglob("*.py"):
        if not {"kit", "programs"} & set(path.parts) and path.name != "test_kit.py":
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
                if re.search(pattern, line):
                    yield f"{path.relative_to(TESTS)}:{number}"


def test_the_kit_has_all_reasons_to_skip():
    assert not list(lines_with(r"pytest\.skip|mark\.skip|importorskip|xfail"))


def test_the_kit_is_found_without_edits_of_the_path():
    edits = {where.split(":")[0].split("/")[-1] for where in lines_with(r"^\s*sys\.path(\.|\[| \+?=)")}
    assert edits == set(OWN_PATH)


def test_an_extension_that_does_not_load_skips_nothing():
    command = [sys.executable, "-c", UNLOADABLE, str(TESTS)]
    said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert said.stdout == "(False,)\n", said.stderr


def test_a_mark_is_the_first_of_its_name_in_either_language(tmp_path):
    file = tmp_path / "marked"
    file.write_text("int a;  // @cpp\nb = 1  # @python\nc = 2  # @python\n")
    assert marks.marks(file) == {"cpp": 1, "python": 2}
    with pytest.raises(AssertionError, match="has no mark @other, only cpp, python"):
        marks.line_of("other", file)


def test_no_folder_of_tests_is_passed_by(request):
    """What pytest leaves out by itself, such as ``build``, is said nowhere."""
    left_out = request.config.getini("norecursedirs")
    folders = {part for path in TESTS.rglob("test_*.py") for part in path.relative_to(ROOT).parts[:-1]}
    assert not [folder for folder in folders if any(fnmatch(folder, pattern) for pattern in left_out)]
