"""``pyharness step`` across the boundary, on our own op; and the example sessions."""

import json
import signal

import pytest

from kit import needs
from kit.paths import PROGRAMS, ROOT, search_path

KERNEL = str(PROGRAMS / "session_kernel.py")
SESSIONS = sorted((ROOT / "examples" / "sessions").glob("*.toml"))
NEEDS = {"aten": needs.aten}


pytestmark = [needs.debug_information(), pytest.mark.rotated_tests(turns=5)]


@pytest.mark.always
def test_from_a_generated_line_into_cpp_and_out_on_the_next_line(pyharness):
    words = (
        "step",
        KERNEL,
        "--at",
        "fx:norm",
        "--into",
        "--print",
        "eps",
        "--stack",
        "--out",
        "--print",
        "eps",
        "--json",
    )
    result = pyharness(*words)
    data = json.loads(result.stdout)
    line, kernel, after = data["stops"]
    assert (line["language"], line["function"], line["fx"]["module"]) == ("python", "forward", "norm")
    assert line["fx"]["origin"].startswith(f"{KERNEL}:")
    assert (kernel["reason"], kernel["language"], kernel["fx"]) == ("step", "native", None)
    assert kernel["function"].startswith("pyharness::ops::rms_norm")
    assert kernel["file"].endswith("csrc/ops/rms_norm.cpp")
    assert float(kernel["printed"]["eps"]) == pytest.approx(1e-6)
    shown = [frame for frame in kernel["stack"] if not frame["plumbing"]]
    assert [frame["language"] for frame in shown] == ["native", "python", "python"]
    assert (shown[1]["function"], shown[1]["line"], shown[1]["fx"]) == ("forward", line["line"], line["fx"])
    assert (after["language"], after["function"], after["line"]) == ("python", "forward", line["line"] + 1)
    assert after["fx"]["node"] == "relu"
    assert after["printed"]["eps"].startswith("<error: NameError")
    assert data["exit_code"] == result.returncode == 0
    assert result.stderr.splitlines()[-1] == "torch.Size([2, 4])"  # behind the note of a busy machine that it waits
    assert pyharness(*words).stdout == result.stdout  # no address or id in it


def test_a_signal_of_children_that_is_blocked_keeps_no_gdb_waiting(pyharness):
    """gdb hears by SIGCHLD of the program that it debugs."""
    mask = {signal.SIGCHLD}
    result = pyharness(
        "step",
        KERNEL,
        "--at",
        "fx:norm",
        "--into",
        "--out",
        "--json",
        preexec_fn=lambda: signal.pthread_sigmask(signal.SIG_BLOCK, mask),
    )
    assert [stop["language"] for stop in json.loads(result.stdout)["stops"]] == ["python", "native", "python"]


def test_a_crash_is_a_stop_with_its_stack(pyharness):
    result = pyharness("step", KERNEL, "--json", "--", "crash")
    data = json.loads(result.stdout)
    (stop,) = data["stops"]
    assert (stop["reason"], stop["language"]) == ("signal", "native")
    assert stop["note"].startswith("SIGSEGV")
    assert "faulty" in stop["function"]
    assert any(frame["language"] == "python" and frame["file"] == KERNEL for frame in stop["stack"])
    assert data["exit_code"] == -signal.SIGSEGV
    assert result.returncode == 128 + signal.SIGSEGV


@pytest.fixture
def crashing(pyharness, crossing, tmp_path):
    """``crashing(TEXT, WORD, ...)``: ``pyharness step`` on a program without torch, whose last line crashes in C++."""
    environment = {**pyharness.environment, "PYTHONPATH": search_path(crossing)}
    script = tmp_path / "crashes.py"

    def step(text, *words):
        script.write_text(f"{text}import crossing\ncrossing.crash()\n")
        return pyharness("step", script, *words, env=environment)

    return step


def test_what_comes_after_a_crash_is_said_not_to_be_done(crashing):
    result = crashing("", "--continue", "--over", "--print", "i")
    assert result.returncode == 1
    assert "signal · native" in result.stdout
    assert "the program was ended by SIGSEGV (Segmentation fault)" in result.stderr
    assert "Traceback" not in result.stderr


def test_a_step_where_no_symbol_tells_the_functions_end_leaves_it(crashing):
    """faulthandler raises the signal again, in a function of a libc without symbols: the second stop."""
    result = crashing(
        "import faulthandler\nfaulthandler.enable()\n", "--at", "py:crashes.py:4", "--continue", "--over", "--over"
    )
    assert result.returncode == 128 + signal.SIGSEGV, result.stderr
    assert result.stdout.count("\n   SIGSEGV (Segmentation fault)") == 2
    assert "bounds" not in result.stderr


def test_a_misspelt_node_offers_the_nearest(pyharness):
    result = pyharness("step", KERNEL, "--at", "fx:rleu")
    assert result.returncode == 1
    assert "No graph of the program has fx:rleu." in result.stderr
    assert "relu" in result.stderr


@pytest.mark.slow
@pytest.mark.rotated(turns=11)
@pytest.mark.parametrize(
    "session", [pytest.param(path, id=path.stem, marks=NEEDS.get(path.stem, ())) for path in SESSIONS]
)
def test_the_example_sessions_hold(pyharness, session):
    result = pyharness("session", "run", session)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "✗" not in result.stdout
