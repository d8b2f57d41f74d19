"""Native places that gdb knows by another name than the person gives, or not as code of their own."""

import subprocess

import pytest

import pyharness
from pyharness.model.errors import HarnessError
from pyharness.model.text.stack_format import function_text

pytestmark = pytest.mark.rotated_tests(turns=5)


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


INLINED_TWICE = """template <class T> T cast(T& of) {

  return of;
}
static int read() __attribute__((noinline));
static int read() { int value; asm volatile("movl $4, %0" : "=r"(value)); return value; }
static inline int inner(int x) {
  int tripled = x * 3;
  return tripled + 1;
}
static int consume(int x) __attribute__((noinline));
static int consume(int x) { asm volatile("" : "+r"(x)); return x; }
extern "C" int run() { int value = read(); return consume(inner(cast<int>(value))); }
"""


def calling(folder, name, level="-O2"):
    """A script that calls ``run`` of what ``name`` compiles to."""
    library = (folder / name).with_suffix(".so")
    subprocess.run(["g++", "-g", level, "-fPIC", "-shared", "-o", library, folder / name], check=True)
    script = folder / "calls.py"
    script.write_text(f"import ctypes\nctypes.CDLL({str(library)!r}).run()\n")
    return script


def test_a_function_that_is_inlined(tmp_path):
    (tmp_path / "twice.cpp").write_text(INLINED_TWICE)
    with pyharness.debug(calling(tmp_path, "twice.cpp")) as stopped:
        frame = stopped.run_to("native:inner").frame
        assert (frame.function, frame.line in {8, 9}) == ("inner", True)


HEADER = """template <class T> __attribute__((noinline)) int applied(int x) { return T::forward(x); }
static int read() { int value; asm volatile("movl $4, %0" : "=r"(value)); return value; }
"""
CALLED_FROM_A_HEADER = """#include "header.h"
struct Own {
  static int forward(int x) {
    int tripled = x * 3;
    return tripled + 1;
  }
};
extern "C" int run() { return applied<Own>(read()); }
"""


def test_a_function_that_is_inlined_into_another_file(tmp_path):
    """The symbol of an inlined function has the file of its call: of a ``forward``, torch's header."""
    (tmp_path / "header.h").write_text(HEADER)
    (tmp_path / "own.cpp").write_text(CALLED_FROM_A_HEADER)
    with pyharness.debug(calling(tmp_path, "own.cpp")) as stopped:
        frame = stopped.run_to("native:Own::forward").frame
        assert (frame.function, frame.line in {3, 4, 5}) == ("Own::forward", True)


def test_an_inlined_function_in_a_loop(program):
    with program("-O2") as stopped:
        stopped.set_breakpoint("native:squared")
        assert [stop.frame.function for stop in iter(stopped.resume, None)] == ["squared"] * 3


BOTH_WAYS = """static int doubled(int x) { asm volatile("" : "+r"(x)); return 2 * x; }
int (*volatile kept)(int) = doubled;
extern "C" int run() { int first = kept(1); return first + doubled(2); }
"""


def test_a_function_that_is_inlined_at_one_of_its_calls(tmp_path):
    (tmp_path / "both.cpp").write_text(BOTH_WAYS)
    with pyharness.debug(calling(tmp_path, "both.cpp")) as stopped:
        stopped.set_breakpoint("native:doubled")
        stops = [(stop.frame.function, stopped.evaluate("x")) for stop in iter(stopped.resume, None)]
    assert stops == [("doubled", "1"), ("doubled", "2")]


OVERLOADS = """#include <string>
static int kind(int first) { int found = first; return found; }
static int kind(double first) { int found = (int)first; return found; }
static int kind(
    const std::string& text,
    int more) {
  int found = (int)text.size() + more;
  return found;
}
extern "C" int run() { return kind(1) + kind(2.5) + kind("abc", 4); }
"""


@pytest.fixture
def overloads(tmp_path):
    (tmp_path / "overloads.cpp").write_text(OVERLOADS)
    with pyharness.debug(calling(tmp_path, "overloads.cpp", "-O0")) as stopped:
        yield stopped


@pytest.mark.rotated
@pytest.mark.parametrize(
    ("place", "value"),
    [
        ("kind(int)", ("first", "1")),
        ("kind(double)", ("first", "2.5")),
        ("kind(double) if first == 2.5", ("first", "2.5")),
        ("kind if first == 2.5", ("first", "2.5")),
        ("kind(std::string const&, int)", ("more", "4")),
        ("kind(const std::string &,int)", ("more", "4")),
    ],
)
def test_an_overload_by_its_parameters(overloads, place, value):
    name, expected = value
    overloads.run_to(f"native:{place}")
    assert overloads.evaluate(name) == expected
    assert overloads.finish() == 0


def test_a_condition_that_fits_no_overload(overloads):
    with pytest.raises(HarnessError, match="does not parse"):
        overloads.run_to("native:kind if nosuch == 1")


OPERATORS = """thread_local int untouched = 5;
struct Positive {
  int n;
  explicit operator bool() const { return n > 0; }
  operator int*() const { return nullptr; }
  int operator[](int i) const { return n + i; }
};
extern "C" int run(int n) {
  Positive it{n};
  int* none = it;
  return it ? it[1] : none == nullptr;
}
extern "C" int touch() { return untouched; }
"""


@pytest.fixture
def operators(tmp_path):
    (tmp_path / "operators.cpp").write_text(OPERATORS)
    library = tmp_path / "operators.so"
    subprocess.run(["g++", "-g", "-O0", "-fPIC", "-shared", "-o", library, tmp_path / "operators.cpp"], check=True)
    (tmp_path / "calls.py").write_text(f"import ctypes\nctypes.CDLL({str(library)!r}).run(3)\n")
    with pyharness.debug(tmp_path / "calls.py") as stopped:
        yield stopped


@pytest.mark.rotated
@pytest.mark.parametrize("name", ["operator int*", "Positive::operator bool if n == 3", "Positive::operator[]"])
def test_an_operator(operators, name):
    stop = operators.run_to(f"native:{name}")
    assert stop.frame.function.endswith(name.partition(" if ")[0])
    assert function_text(stop.frame).endswith(name.partition(" if ")[0])
    assert operators.finish() == 0


def test_what_gdb_says_in_several_lines_is_whole(operators):
    operators.run_to("native:run")
    with pytest.raises(HarnessError, match=r"thread-local variables in the shared library ..*operators.so. for"):
        operators.evaluate("native:untouched")
    assert operators.finish() == 0


LEAVES = """extern "C" void touch(int* value);

static inline int leaf(int* value, int by) {
  int twice = by * 2;
  touch(value);
  int sum = *value + twice;
  return sum;
}

static inline int middle(int* value, int by) {
  int more = by + 1;
  int first = leaf(value, more);
  int second = leaf(value, first);
  return first * second + more;
}

extern "C" int outermost(int value) {
  int result = middle(&value, value);
  return result + 1;
}
"""


def test_out_of_inlined_functions_ends_in_the_caller_of_each(tmp_path, monkeypatch):
    """Lines of one lie among those of the other: gdb's own way out ends at the next of them."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "leaves.cpp").write_text(LEAVES)
    (tmp_path / "touch.cpp").write_text('extern "C" void touch(int* value) {\n  *value += 1;\n}\n')
    for name, flag in (("leaves", "-O2"), ("touch", "-O0")):
        subprocess.run(["c++", "-g", flag, "-fPIC", "-c", f"{name}.cpp"], check=True)
    subprocess.run(["c++", "-shared", "-o", "leaves.so", "leaves.o", "touch.o"], check=True)
    (tmp_path / "leaves.py").write_text("import ctypes\nctypes.CDLL('./leaves.so').outermost(3)\nprint()\n")
    with pyharness.debug(str(tmp_path / "leaves.py")) as stopped:
        stopped.run_to("native:touch")
        left = [stopped.out().frame.function for _ in range(4)]
    assert left == ["leaf", "middle", "outermost", "<module>"]
