"""ph- commands across the boundary: a real gdb, a program with torch, torch.fx and our C++ ops."""

from __future__ import annotations

import subprocess
import sys

import pytest

from kit.gdb import Gdb, at
from kit.marks import line_of
from kit.paths import ROOT

CROSSING = ROOT / "tests/programs/plain_crossing.py"
FOREVER = ROOT / "tests/programs/plain_forever.py"
KERNELS = "csrc/ops/rms_norm.cpp:"


def test_into_over_and_out_across_the_boundary_in_the_forward(tmp_path):
    gdb = Gdb(
        tmp_path,
        "ph-break fx:norm",
        "ph-break native:rms_norm_cpu if eps > 1",
        "ph-run",
        "ph-into",
        "ph-into rms_norm_cpu",
        "ph-over",
        "ph-print eps",
        "ph-print -python x",
        *["ph-out"] * 5,
        "ph-into rms_nrm_cpu",
        program=CROSSING,
    )
    gdb.has("Breakpoint 1, forward () at", "torch.ops.pyharness.rms_norm", f"module norm, from {CROSSING}")
    gdb.has(f"from {CROSSING}", "rms_norm_autograd (", KERNELS, "rms_norm_cpu (", KERNELS, "rms_norm_cpu (")
    # Out through each caller of theirs: the op, its autograd function, what dispatches to it.
    gdb.has("= 9.9999", "tensor([[0., 1., 2., 3.],", "::rms_norm (", "RmsNorm::forward (", "::rms_norm_autograd (")
    gdb.has(
        "::rms_norm_autograd (",
        "\tfx node add, module (root)",
        f"<module> () at {CROSSING}:{line_of('backward', CROSSING)}",
    )
    gdb.has("Your native code has no function 'rms_nrm_cpu'", "Did you mean rms_norm_cpu")


def test_into_a_line_of_torchs_own_code_ends_at_the_next_line(tmp_path):
    gdb = Gdb(tmp_path, "ph-break fx:add", "ph-run", "ph-into", "kill", "ph-run", "ph-out", "ph-into", program=CROSSING)
    gdb.has("\tfx node add", "\tfx node tanh", "ran no function of yours; this is the next line")
    # The same gdb runs the program again: out of the forward, and into what backward() runs.
    gdb.has("next line", "\tfx node add", f"<module> () at {CROSSING}:{line_of('backward', CROSSING)}", KERNELS)


def test_into_the_line_that_calls_backward_lands_in_the_ops_backward(tmp_path):
    gdb = Gdb(
        tmp_path,
        f"ph-break py:{at('backward', CROSSING)}",
        "ph-run",
        "ph-into rms_norm_backward_cpu",
        "ph-bt",
        "ph-tensor grad",
        "ph-out",
        "continue",
        program=CROSSING,
    )
    gdb.has(
        "rms_norm_backward_cpu (",
        KERNELS,
        "rms_norm_backward_cpu",
        f"plain_crossing.py:{line_of('backward', CROSSING)}",
        "done",
    )
    assert gdb.status == 0, gdb.text


def test_long_values_in_a_locale_of_plain_signs(tmp_path):
    commands = ["ph-break native:rms_norm_cpu", "ph-run", 'print "é"', "kill"]
    gdb = Gdb(tmp_path, *commands, program=ROOT / "examples/transformer.py", environment={"LC_ALL": "C"})
    gdb.has("rms_norm_cpu (input=Tensor float32 [", "…", "weight=Tensor float32 [64]", "…", "$1 = ")


@pytest.fixture
def forever(request):
    """A running program that one word of its command line names."""
    word = f"word-{request.node.name}"
    module = getattr(request, "param", ["-m", "pyharness.debuggee"])
    program = subprocess.Popen([sys.executable, *module, FOREVER, word], stdout=subprocess.PIPE, text=True)
    try:
        assert program.stdout.readline() == "ready\n"
        yield program, word
    finally:
        program.kill()
        program.wait()


def test_attach_by_name_stop_at_a_line_and_detach(tmp_path, forever):
    program, word = forever
    gdb = Gdb(
        tmp_path,
        f"ph-attach {word}",
        f"ph-break py:{FOREVER}:{line_of('work', FOREVER)}",
        "continue",
        "ph-print count >= 0, len(total)",
        "ph-out",
        "detach",
    )
    gdb.has(f"Attached to {program.pid}", "work () at", "(True, 2000)", f"<module> () at {FOREVER}")
    assert program.poll() is None


@pytest.mark.parametrize("forever", [[]], indirect=True)
def test_a_program_that_was_not_started_by_the_harness_says_so(tmp_path, forever):
    program, _word = forever
    gdb = Gdb(tmp_path, f"ph-attach {program.pid}", f"ph-break py:{FOREVER}:{line_of('work', FOREVER)}")
    assert gdb.status != 0
    gdb.has("gdb cannot ask this program about its Python side", "python -m pyharness.debuggee")
    assert program.poll() is None


def test_attach_wants_exactly_one_process(tmp_path, forever):
    program, word = forever
    second = subprocess.Popen([sys.executable, "-c", "input()", word], stdin=subprocess.PIPE)
    try:
        Gdb(tmp_path, f"ph-attach {word}").has(
            "2 processes have", *(f"  {pid}  " for pid in sorted([program.pid, second.pid])), "Name one by its PID"
        )
    finally:
        second.communicate(b"\n")
    Gdb(tmp_path, "ph-attach no-such-program").has("No process of yours has 'no-such-program'")
