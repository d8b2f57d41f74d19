"""The prompt in native code: an extension that is not ours, a core file, a graph of torch.fx."""

import os
import re
import subprocess
import textwrap
import zipfile

import pytest

from kit import builds
from kit.command import PYHARNESS
from kit.dialogue import blocks
from kit.marks import marks, place
from kit.paths import PROGRAMS

pytestmark = pytest.mark.rotated_tests(turns=9)


CROSSING = PROGRAMS / "core_crossing.py"
GRAPH = PROGRAMS / "fx_plain.py"
CXX = marks(builds.CROSSING)


@pytest.fixture
def crossing(piped, environment):
    """Run commands of the prompt on a program that calls a pybind11 extension."""

    def run(commands):
        path = f"{environment['PYTHONPATH']}:{builds.crossing()}"
        return piped(commands, program=CROSSING, env={**environment, "PYTHONPATH": path})

    return run


@pytest.mark.always
def test_into_cpp_and_back(crossing):
    steps = ["b scaled", "c", "p value", "set value = 21", "p (&value)[0:1]", "watch value", "info locals", "bt", "up"]
    done = crossing([*steps, "gdb info line", "watch", "finish", "watch", "gdb continue"])
    assert "all of whose threads stand" in crossing(["b scaled", "c", "gdb gcore core"]).stderr
    shown = blocks(done.stdout)
    assert shown["b scaled"].startswith("1  breakpoint  native:scaled")
    assert "breakpoint · native · crossing::scaled" in shown["c"]
    assert f"→ {CXX['scaled']} │" in shown["c"]
    assert "value = " in shown["set value = 21"]
    assert shown["p (&value)[0:1]"].strip() == "[21]"
    assert "value (int)" in shown["watch value"]
    rows = [row.split() for row in shown["bt"].splitlines()]
    assert any("python" in row for row in rows)
    assert "native · crossing::" in shown["up"]
    assert "extension.cpp" in shown["gdb info line"]
    assert "native · crossing::" in shown["finish"]
    assert "over" not in shown["watch value"]
    assert shown["watch"].endswith("(its frame has returned: it is over)")
    assert "gdb's continue would go on behind the prompt's back." in done.stderr


RETURNING = """#include <string>
struct Pair { double first; std::string second; double more[3]; };
static Pair made(int n) { return Pair{n / 2.0, "half"}; }
static int doubled(int n) { return n * 2; }
static void nothing(int) {}
extern "C" int run(int n) {
  int twice = doubled(n);
  Pair pair = made(twice);
  nothing(n);
  return (int)pair.first;
}
"""


def test_out_of_a_cpp_function_shows_what_it_has_returned(piped, tmp_path):
    (tmp_path / "returning.cpp").write_text(RETURNING)
    library = tmp_path / "returning.so"
    subprocess.run(["g++", "-g", "-O0", "-fPIC", "-shared", "-o", library, tmp_path / "returning.cpp"], check=True)
    program = tmp_path / "calls.py"
    program.write_text(f"import ctypes\nlibrary = ctypes.CDLL({str(library)!r})\nlibrary.run(7)\n")
    places = [f"b native:{name}" for name in ("doubled", "made", "nothing")]
    done = piped([*places, "c", "out", "rv", "n", "rv", "c", "out", "c", "out", "out"], program=program)
    shown = [text for _, text in blocks(done.stdout, repeated=True)][3:]
    assert "doubled() returned 14\n" in shown[1]
    assert shown[2].strip() == "14"
    assert "The last step has left no function by a return" in done.stderr  # which ends what is read from a pipe
    done = piped([*places, "c", "out", "n", "c", "out", "c", "out", "out"], program=program)
    shown = [text for _, text in blocks(done.stdout, repeated=True)][3:]
    assert 'made() returned {first = 7, second = "half"' in shown[4]
    assert "returned" not in shown[2] + shown[6] + shown[7]


RECURSIVE = """extern "C" int fib(int n) {
  if (n < 2) return n;
  int a = fib(n - 1);
  int b = fib(n - 2);
  return a + b;
}
"""
RECURSES = """import ctypes
def sum_to(n):
    below = sum_to(n - 1) if n else 0
    more = below + n
    return more
ctypes.CDLL("./recursive.so").fib(4)
sum_to(3)
"""


def test_until_stays_in_the_call_of_a_recursive_function(piped, tmp_path):
    """So gdb's and pdb's do."""
    (tmp_path / "recursive.cpp").write_text(RECURSIVE)
    builder = ["g++", "-g", "-O0", "-fPIC", "-shared", "-o", "recursive.so", "recursive.cpp"]
    subprocess.run(builder, check=True, cwd=tmp_path)
    (tmp_path / "recurses.py").write_text(RECURSES)
    native = ["b native:recursive.cpp:3", "c", "delete", "until 5", "p n", "until", "p n"]
    python = ["b recurses.py:3", "c", "delete", "until 5", "p n"]
    done = piped([*native, *python], program=tmp_path / "recurses.py", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    pairs = blocks(done.stdout, repeated=True)
    assert [text.strip() for name, text in pairs if name == "p n"] == ["4", "4", "3"], done.stdout
    assert "breakpoint · native · fib" in pairs[3][1]
    assert "recursive.cpp:6" in pairs[5][1]
    assert "breakpoint · python · sum_to" in pairs[10][1]


INLINED = """#include <map>
#include <memory>
#include <optional>
#include <string>
struct Base { virtual int f(int k) = 0; virtual ~Base() = default; int held = 1; };
struct Derived : Base { int f(int k) override; };
__attribute__((noinline)) int Derived::f(int k) { return k + held; }
extern "C" int run(int k) {
  std::map<std::string, int> m{{"a", 1}};
  std::unique_ptr<Base> p(new Derived);
  int r = p->f(k);
  return r + (int)m.size();
}
extern "C" int kept(int k) {
  std::optional<int> none, some = 4;
  std::unique_ptr<Base> p(new Derived);
  int r = p->f(k);
  return r + *some + none.has_value();
}
"""


@pytest.fixture
def inlined(tmp_path):
    """A program that calls optimized C++ with the GIL, in which much is inlined."""
    (tmp_path / "inlined.cpp").write_text(INLINED)
    library = tmp_path / "inlined.so"
    subprocess.run(["g++", "-g", "-O2", "-fPIC", "-shared", "-o", library, tmp_path / "inlined.cpp"], check=True)
    program = tmp_path / "calls.py"
    program.write_text(f"import ctypes\nlibrary = ctypes.PyDLL({str(library)!r})\nlibrary.run(7)\nlibrary.kept(7)\n")
    return program


def test_where_an_inlined_function_begins_an_expression_leaves_the_stop_as_it_is(pyharness, inlined):
    """A call of Python makes gdb forget that the step has ended before it."""
    done = pyharness("step", inlined, "--at", "native:run", "--over", "--print", "py:1+1", "--print", "k", "--stack")
    assert "   k = 7\n" in done.stdout
    assert done.stdout.partition("   stack\n")[2].split()[:2] == ["native", "run"]


def test_a_value_that_lacks_its_padding_is_there(piped, inlined):
    shown = blocks(piped(["b native:kept", "c", "p some", "p none"], program=inlined).stdout)
    assert (shown["p some"], shown["p none"].strip()) == ("4", "nullopt")


def test_a_thread_whose_name_the_kernel_has_cut_in_the_middle_of_a_sign_has_a_stack(piped, inlined):
    named = "import ctypes\nctypes.CDLL(None).prctl(15, 'Datenlader--Größe'.encode(), 0, 0, 0)\n"
    inlined.write_text(named + inlined.read_text())
    done = piped(["b native:kept", "c", "bt", "threads"], program=inlined)
    assert done.returncode == 0, done.stderr
    assert "native  kept" in blocks(done.stdout)["bt"]


def test_a_thread_may_have_a_name_that_is_no_text(piped, tmp_path):
    program = tmp_path / "named.py"
    program.write_text(
        "import threading\nnever = threading.Event()\nclass Numbered(threading.Thread):\n    name = 7\n"
        "Numbered(target=never.wait, daemon=True).start()\nprint('here')\n"
    )
    shown = blocks(piped(["b py:named.py:6", "c", "threads"], program=program).stdout)["threads"]
    assert [line.split()[-2] for line in shown.splitlines() if "stands" not in line] == ["7"]


def test_a_thread_has_pythons_name_at_a_native_stop(piped, inlined):
    called = textwrap.indent(inlined.read_text(), "    ")
    inlined.write_text(
        f"import threading\ndef load():\n{called}\nthreading.Thread(target=load, name='loader').start()\n"
    )
    done = piped(["b native:kept", "c", "threads"], program=inlined)
    assert re.search(r"^→ \d+  loader  stands  \(breakpoint\)$", blocks(done.stdout)["threads"], re.MULTILINE)


def test_a_cpp_exception_is_a_stop_where_that_is_wanted(crossing):
    done = crossing(["catch throw std::*", "c", "bt"])
    assert "exception · native · " in blocks(done.stdout)["c"]
    assert "std::runtime_error: " in blocks(done.stdout)["c"]
    assert "crossing::fail" in blocks(done.stdout)["bt"]


def test_the_node_that_runs_next(piped, tmp_path):
    program = tmp_path / "backward.py"
    program.write_text("import torch\ntorch.relu(torch.ones(3, requires_grad=True)).sum().backward()\n")
    done = piped(["node"], options=("--at", "node:ReluBackward0"), program=program)
    assert "ReluBackward0 runs next: ReluBackward0(float32[3]), hit 1, called from" in done.stdout, done.stderr


def test_from_node_to_node_and_from_module_to_module(piped):
    commands = ["b fx:blocks.0", "c", "fx", "nn", "next module", "nan", "node"]
    done = piped(commands, program=GRAPH)
    shown = blocks(done.stdout)
    assert "fx: norm ← blocks.0" in shown["c"]
    assert "graph Net, " in shown["fx"]
    assert "fx: truediv ← blocks.0" in shown["nn"]
    assert _variables(shown["nn"])[0].startswith("norm = Tensor float32 ")
    assert _variables(shown["next module"])[0].startswith("truediv = Tensor float32 ")
    assert "← blocks.1" in shown["next module"]
    assert "Neither NaN nor infinities in" in shown["nan"]
    assert "This thread runs no autograd node." in done.stderr


def test_a_bare_name_that_several_functions_have_is_refused_with_all_of_them(piped):
    done = piped(["b Net.forward", "b forward"], program=GRAPH)
    body = marks(GRAPH)["def"] + 1
    assert re.match(rf"1  breakpoint  py:.*fx_plain\.py:{body}$", blocks(done.stdout)["b Net.forward"].strip())
    assert "Several functions are called 'forward':" in done.stderr
    assert re.search(rf"py:.*fx_plain\.py:{marks(GRAPH)['norm']}  Norm\.forward", done.stderr)
    assert re.search(rf"py:.*fx_plain\.py:{body}  Net\.forward", done.stderr)


def test_a_tensor_in_python(piped):
    ones = "tensor torch.ones(2, 3) --stats"
    shown = blocks(piped([f"b {place('call', GRAPH)}", "c", ones], program=GRAPH).stdout)[ones]
    assert shown.startswith("Tensor float32 [2, 3] cpu [[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]]")
    assert "   shape = [2, 3]" in shown
    assert "      NaN = 0" in shown


def test_a_place_that_looks_like_an_option_of_gdbs_is_not_found(crossing):
    """gdb takes some such words for a place of another kind, and ended where there is no such place."""
    done = crossing(["b native:scaled", "b native:-probe foo", "b native:held thread 99", "c", "info breakpoints"])
    assert "breakpoint · native · crossing::scaled" in blocks(done.stdout)["c"]
    assert "inlined" not in done.stdout + done.stderr


def test_a_statement_is_refused_as_one(crossing):
    done = crossing(["b native:scaled", "c", "py 1 + 1", "py value = 99"])
    assert blocks(done.stdout)["py 1 + 1"].strip() == "2"
    assert "At a native stop `py` takes an expression, and 'value = 99' is none." in done.stderr


def test_commands_of_gdb_that_need_a_terminal_are_refused(crossing):
    done = crossing(["b native:scaled", "c", "gdb while 1"])
    assert done.returncode == 1
    assert "gdb's while needs a terminal, or lines, of its own." in done.stderr


def test_a_pipe_is_no_core_file(pyharness, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    done = pyharness("debug", pipe)
    assert done.returncode == 2
    assert "is a pipe or a device" in done.stderr


def test_no_standard_input_is_one_without_commands(environment, tmp_path):
    script = tmp_path / "says.py"
    script.write_text("print('ran')\n")
    words = ["sh", "-c", 'exec "$@" <&-', "sh", *PYHARNESS, "debug", script, "-c", "continue"]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    assert "ran" in done.stdout


def _variables(stop):
    """The variables that a stop shows, in their order."""
    return [line.strip() for line in stop.splitlines() if " = " in line and "│" not in line]


NANS = """import torch
nan = float("nan")
def looked_at(plain, held, sparse, large):
    return 1
large = torch.ones(5_000_000)
large[-1] = nan
looked_at(torch.ones(2), [torch.ones(1), {"a": torch.full((2,), nan)}], torch.full((2,), nan).to_sparse(), large)
"""


def test_nan_says_what_it_has_not_looked_at(piped, tmp_path):
    program = tmp_path / "nans.py"
    program.write_text(NANS)
    done = piped(["b 4", "c", "nan"], program=program)
    said = blocks(done.stdout)["nan"].splitlines()
    assert said[0] == "held[1]['a'] has 2 NaN"
    assert "sparse: not looked at (sparse: see its parts)" in said
    assert "large: only the first 4194304 of 5000000 elements were looked at" in said
    assert "run --nan" in said[-1]


RAISING = """import torch
class Net(torch.nn.Module):
    def forward(self, x):
        y = torch.relu(x)
        return y @ y
torch.fx.symbolic_trace(Net())(torch.ones(2, 3))
"""


def test_the_end_of_a_step_is_no_place_that_was_not_reached(piped, tmp_path):
    program = tmp_path / "raising.py"
    program.write_text(RAISING)
    done = piped(["b fx:relu", "c", "nn", "c", "nn"], program=program)
    assert "exception · python · forward" in done.stdout
    assert "the program ended with exit code 1" in done.stdout
    assert "without reaching" not in done.stderr


HOLDING = """#include <array>
#include <vector>
extern "C" int held(int n) {
  std::array<int, 0> none;
  std::vector<double> rates{1.5, 2.5};
  return n + (int)none.size() + (int)rates.size();
}
"""


def test_containers_are_the_same_in_every_front_door(piped, pyharness, tmp_path):
    (tmp_path / "held.cpp").write_text(HOLDING)
    library = tmp_path / "held.so"
    subprocess.run(["g++", "-g", "-O0", "-fPIC", "-shared", "-o", library, tmp_path / "held.cpp"], check=True)
    program = tmp_path / "holds.py"
    program.write_text(f"import ctypes\nctypes.CDLL({str(library)!r}).held(3)\n")
    saved = tmp_path / "saved.toml"
    done = piped(["b native:held.cpp:6", "c", "p none", "p rates", f"save {saved}"], program=program)
    shown = blocks(done.stdout)
    assert shown["p none"].strip() == "[]"
    text = "std::vector of length 2, capacity 2 = {1.5, 2.5}"
    assert shown["p rates"].strip() == text
    printed = pyharness("step", program, "--at", "native:held.cpp:6", "--print", "rates", "--kill").stdout
    assert f"rates = {text}" in printed
    assert pyharness("session", "run", saved).returncode == 0


TRACED = """import torch
class Net(torch.nn.Module):
    def forward(self, x):
        return torch.ops.aten.sin(x) + 1
torch.fx.symbolic_trace(Net())(torch.ones(2))
"""


def test_into_an_op_that_is_a_place_as_well_stops_in_nothing_of_ours(piped, tmp_path):
    """What looks whether the place is a line that has stopped already runs in the program, while the step is armed."""
    program = tmp_path / "traced.py"
    program.write_text(TRACED)
    done = piped(["into", "c"], options=("--at", "op:aten::sin"), program=program)
    stops = [line for line in done.stdout.splitlines() if re.match(r"\d+  \w", line) and " · " in line]
    assert all("regular_file" not in stop for stop in stops), stops
    assert len(stops) >= 2


@pytest.mark.parametrize("place", ["op:aten::mul", "node:MulBackward0"])
def test_the_tensors_of_an_op_or_a_node_are_its_variables(piped, tmp_path, place):
    program = tmp_path / "nans.py"
    program.write_text(
        "import torch\nx = torch.ones(2, requires_grad=True)\nnan = torch.full((2,), float('nan'))\n"
        "(x * nan).backward(nan)\n"
    )
    shown = blocks(piped(["locals", "nan"], options=("--at", place), program=program).stdout)
    assert "in0 = Tensor float32 [2] cpu " in shown["locals"]
    assert f"{'in1' if place.startswith('op') else 'in0'} has 2 NaN" in shown["nan"]


def test_a_function_without_variables_has_none(piped, tmp_path):
    program = tmp_path / "none.py"
    program.write_text("def none():\n    return 1\nnone()\n")
    done = piped(["b 2", "c", "locals"], program=program)
    assert "This function has no variables here." in done.stdout
    assert done.returncode == 0


def test_a_condition_that_gdb_refuses_is_a_command_that_fails(crossing):
    done = crossing(["b scaled", "c", f"b {builds.CROSSING.name}:{CXX['scaled']} if zzz == 3", "info breakpoints"])
    assert "does not parse" in done.stderr
    assert done.returncode == 1
    assert "(ph) info breakpoints" not in done.stdout


@pytest.mark.parametrize("name", ["f", "mod.f"])
def test_a_function_of_an_archive_is_told_to_be_one(piped, tmp_path, name):
    program = tmp_path / "app.pyz"
    with zipfile.ZipFile(program, "w") as archive:
        archive.writestr("mod.py", "def f():\n    return 4\n")
        archive.writestr("__main__.py", "import mod\nprint(mod.f())\n")
    done = piped([f"b {name}"], program=program)
    assert f"{name!r} may be a function of the archive" in done.stderr
    assert "Unpack it, and run the folder. A function of C or C++ is native:f." in done.stderr
    assert done.returncode != 0
