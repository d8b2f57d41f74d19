"""ph- commands across the boundary: a real gdb, a program with torch, torch.fx and our C++ ops."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from kit import needs
from kit.gdb import Gdb, at
from kit.marks import line_of
from kit.paths import ROOT

pytestmark = pytest.mark.rotated_tests(turns=8)


CROSSING = ROOT / "tests/programs/plain_crossing.py"
FOREVER = ROOT / "tests/programs/plain_forever.py"
KERNELS = "csrc/ops/rms_norm.cpp:"


@pytest.fixture(scope="module")
def crossed(tmp_path_factory):
    """What one gdb printed that ran the program twice: the forward with steps to its end, then the backward."""
    gdb = Gdb(
        tmp_path_factory.mktemp("crossed"),
        "ph-break fx:norm",
        "ph-break native:rms_norm_cpu if eps > 1",
        "ph-run",
        "ph-into",
        "ph-into rms_norm_cpu",
        "ph-over",
        "ph-print eps",
        "ph-print -python x",
        *["ph-out"] * 4,
        "ph-into",
        "ph-out",
        "ph-into",
        "kill",
        "delete 1 2",
        f"ph-break py:{at('backward', CROSSING)}",
        "echo again\\n",
        "ph-run",
        "ph-into rms_norm_backward_cpu",
        "ph-bt",
        "ph-tensor grad",
        "ph-out",
        "continue",
        program=CROSSING,
    )
    assert gdb.status == 0, gdb.text
    return gdb


@pytest.mark.rotated_tests(turns=3, number=0)
def test_into_over_and_out_across_the_boundary_in_the_forward(crossed):
    crossed.has("Breakpoint 1, forward () at", "torch.ops.pyharness.rms_norm", f"module norm, from {CROSSING}")
    crossed.has(f"from {CROSSING}", "rms_norm_autograd (", KERNELS, "rms_norm_cpu (", KERNELS, "rms_norm_cpu (")
    assert "\\n" not in crossed.text, "a stop is told in lines of its own"
    # Out through each caller of theirs: the op, its autograd function, what dispatches to it.
    crossed.has("= 9.9999", "tensor([[0., 1., 2., 3.],", "::rms_norm (", "RmsNorm::forward (", "::rms_norm_autograd (")
    crossed.has("::rms_norm_autograd (", "\tfx node add, module (root)")


@pytest.mark.rotated_tests(turns=3, number=0)
def test_into_a_line_of_torchs_own_code_ends_at_the_next_line(crossed):
    crossed.has("\tfx node add", "\tfx node tanh", "ran no function of yours; this is the next line")
    # Out of the forward, and into what backward() runs.
    crossed.has("next line", f"<module> () at {CROSSING}:{line_of('backward', CROSSING)}", KERNELS, "again")


@pytest.mark.rotated_tests(turns=3, number=0)
def test_into_the_line_that_calls_backward_lands_in_the_ops_backward(crossed):
    crossed.has(
        "again",
        "rms_norm_backward_cpu (",
        KERNELS,
        "rms_norm_backward_cpu",
        f"plain_crossing.py:{line_of('backward', CROSSING)}",
        "done",
    )


@pytest.fixture(scope="module")
def plain_signs(tmp_path_factory):
    """One at a kernel of a program with larger tensors; its last command is wrong."""
    commands = ["ph-break native:rms_norm_cpu", "ph-run", 'print "é"', "ph-into rms_nrm_cpu"]
    program = ROOT / "examples/transformer.py"
    return Gdb(tmp_path_factory.mktemp("signs"), *commands, program=program, environment={"LC_ALL": "C"})


@pytest.mark.rotated_tests(turns=3, number=1)
def test_long_values_in_a_locale_of_plain_signs(plain_signs):
    plain_signs.has("rms_norm_cpu (input=Tensor float32 [", "…", "weight=Tensor float32 [64]", "…", "$1 = ")


@pytest.mark.rotated_tests(turns=3, number=1)
def test_a_misspelt_function_offers_the_nearest(plain_signs):
    plain_signs.has("Your native code has no function 'rms_nrm_cpu'", "Did you mean rms_norm_cpu")


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


def test_python_is_asked_where_no_object_is_half_made(tmp_path, forever):
    """Where a list is made the asked code would be given the same one, and the program crash."""
    gdb = Gdb(
        tmp_path,
        f"ph-attach {forever[1]}",
        "python from pyharness.ingdb.functions.native_names import function_for_place, name_of",
        "python gdb.execute(f'tbreak *{function_for_place(\"PyList_New\", own=False)[0]}')",
        "continue",
        "python print('BEFORE', name_of(gdb.newest_frame())[0])",
        f"ph-break py:{FOREVER}:{line_of('work', FOREVER)}",
        "python print('BEHIND', name_of(gdb.newest_frame())[0])",
        "continue",
        "ph-print count >= 0, len(total)",
        "detach",
    )
    gdb.has("BEFORE PyList_New", "BEHIND ", "work () at", "(True, 2000)")
    assert "BEHIND PyList_New" not in gdb.text


def test_python_is_asked_in_a_program_that_sleeps_in_an_interpreter_without_names(tmp_path):
    """Nobody knows what its functions do; the one that sleeps is not waited for."""
    library = Path(sysconfig.get_config_var("LIBDIR")) / sysconfig.get_config_var("INSTSONAME")
    if library.suffix == ".a":
        needs.skip("needs a Python with a shared libpython")
    subprocess.run(["strip", "-o", tmp_path / library.name, library], check=True)
    script = tmp_path / "sleeps.py"
    script.write_text("import time\n\nprint('ready', flush=True)\ntime.sleep(1000)\n")
    words = [sys.executable, "-m", "pyharness.debuggee", script]
    environment = {**os.environ, "LD_LIBRARY_PATH": str(tmp_path)}
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=environment) as program:
        try:
            assert program.stdout.readline() == "ready\n"
            Gdb(tmp_path, f"ph-attach {program.pid}", f"ph-break py:{script}:4", "detach").has("Breakpoint 1 at py:")
        finally:
            program.kill()


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
