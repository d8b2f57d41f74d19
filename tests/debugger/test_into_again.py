"""*Into* from a function's first line comes to the next call of that function, which may be its own."""

import ctypes
import subprocess

import pytest

import pyharness

SOURCE = """
#include <algorithm>
#include <vector>

static int twice(int x) { return x * 2; }
static int factorial(int n) { return n < 2 ? 1 : n * factorial(n - 1); }
static bool less(int a, int b) { return a < b; }

extern "C" int three() {
  return twice(1) + twice(2) + twice(3);
}
extern "C" int loop() {
  int sum = 0;
  for (int i = 1; i < 4; ++i) sum += twice(i);
  return sum;
}
extern "C" int recursion() {
  return factorial(3);
}
extern "C" int sorted() {
  std::vector<int> v{3, 1, 2};
  std::sort(v.begin(), v.end(), less);
  return v[0];
}
"""
CALLS = {
    "three": ("twice", ["1", "2", "3"]),
    "loop": ("twice", ["1", "2", "3"]),
    "recursion": ("factorial", ["3", "2", "1"]),
}


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    folder = tmp_path_factory.mktemp("again")
    (folder / "again.cpp").write_text(SOURCE)
    words = ["c++", "-g", "-O0", "-shared", "-fPIC", "-o", folder / "libagain.so", folder / "again.cpp"]
    subprocess.run(words, check=True)
    return folder / "libagain.so"


@pytest.fixture
def standing(library, tmp_path):
    """``standing(FUNCTION)``: a program that stands in it, before the line with the calls."""
    script = tmp_path / "calls.py"
    script.write_text(f"import ctypes, sys\nlibrary = ctypes.CDLL({str(library)!r})\nprint(library[sys.argv[1]]())\n")

    def begin(function, stdout=subprocess.DEVNULL):
        program = pyharness.debug(str(script), function, stdout=stdout)
        assert program.run_to(f"native:{function}").frame.function == function
        return program

    return begin


@pytest.mark.parametrize(
    ("function", "called", "arguments"), [(name, *calls) for name, calls in CALLS.items()], ids=CALLS
)
def test_each_call_of_one_line_is_come_to(standing, function, called, arguments):
    argument = "n" if called == "factorial" else "x"
    with standing(function) as program:
        seen = []
        while (stop := program.into()) and stop.frame.language == "native":
            seen += [program.evaluate(argument)] if stop.frame.function == called else []
        assert seen == arguments
        assert program.finish() == 0


def test_a_function_that_the_library_calls_again(standing, library):
    with standing("sorted") as program:
        stops = [program.into() for _ in range(5)]
        assert [stop.frame.function for stop in stops[:2]] == ["sorted", "less"]
        assert sum(stop.frame.function == "less" for stop in stops) >= 3
        assert program.finish() == 0
    assert ctypes.CDLL(str(library)).sorted() == 1
