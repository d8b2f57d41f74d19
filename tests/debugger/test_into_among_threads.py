"""*into* in native code, of a function that other threads run all the time."""

import json
import subprocess

import pytest

CODE = """#include <pthread.h>
#include <stdatomic.h>
static atomic_int runs, leaves;
int leaf(int n) {
  return n + 1;
}
static void *calls(void *none) {
  while (runs) leaf(3);
  return 0;
}
int both(int threads, int n) {
  pthread_t started[8];
  runs = 1;
  for (int i = 0; i < threads; i++) pthread_create(&started[i], 0, calls, 0);
  int sum = leaf(n);
  sum += leaf(sum);
  runs = 0;
  for (int i = 0; i < threads; i++) pthread_join(started[i], 0);
  return sum;
}
static void *waits(void *none) {
  leaf(1);
  leaves = 1;
  return 0;
}
int waited(void) {
  pthread_t started;
  leaves = 0;
  pthread_create(&started, 0, waits, 0); pthread_join(started, 0);
  return leaf(leaves);
}
"""


@pytest.fixture
def program(tmp_path):
    (tmp_path / "leaf.c").write_text(CODE)
    library = tmp_path / "leaf.so"
    subprocess.run(["gcc", "-shared", "-fPIC", "-g", "-o", library, tmp_path / "leaf.c", "-lpthread"], check=True)
    script = tmp_path / "calls.py"
    script.write_text(f"import ctypes\nlibrary = ctypes.CDLL({str(library)!r})\n")

    def calling(call):
        script.write_text(f"{script.read_text()}print(library.{call})\n")
        return script

    return calling


@pytest.mark.rotated(turns=3)
@pytest.mark.parametrize("threads", [1, 6])
def test_it_is_not_missed(program, pyharness, threads):
    """A trap that is lifted for a moment, so that another thread passes it, is not there for the one that steps."""
    line = CODE.splitlines().index("  int sum = leaf(n);") + 1
    words = ("--at", f"native:leaf.c:{line}", "--into", "--out", "--over", "--into", "--out", "--json")
    done = pyharness("step", *words, program(f"both({threads}, 5)"))
    stops = [(stop["function"], stop["line"]) for stop in json.loads(done.stdout)["stops"]]
    assert stops == [("both", line), ("leaf", 5), ("both", line), ("both", line + 1), ("leaf", 5), ("both", line + 1)]
    assert done.returncode == 0, done.stderr


def test_a_line_that_waits_for_a_thread_ends(program, pyharness):
    """The other thread waits at the trap of the step, and the step for that thread."""
    line = CODE.splitlines().index("  pthread_create(&started, 0, waits, 0); pthread_join(started, 0);") + 1
    done = pyharness("step", "--at", f"native:leaf.c:{line}", "--into", "--into", "--json", program("waited()"))
    stops = [(stop["function"], stop["line"]) for stop in json.loads(done.stdout)["stops"]]
    assert stops == [("waited", line), ("waited", line + 1), ("leaf", 5)]
    assert done.returncode == 0, done.stderr
