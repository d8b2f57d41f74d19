"""The native stack of a training program without torch's symbols, live and from its core, against gdb's with all."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from kit.paths import ROOT

HERE = Path(__file__).parent
PROGRAM = ROOT / "tests/programs/native_training.py"
TORCH = {
    "torch::autograd::Node::operator()": "libtorch_cpu.so",
    "torch::autograd::Engine::execute": "libtorch_cpu.so",
    "torch::autograd::python::PythonEngine::execute": "libtorch_python.so",
    "THPEngine_run_backward": "libtorch_python.so",
}
TAIL_CALL = 3  # gdb.TAILCALL_FRAME
KERNEL = "pyharness::ops::rms_norm_backward_cpu"


@pytest.fixture(scope="module")
def seen(tmp_path_factory):
    """What gdb collected: in the live program, and in the core that it wrote there."""
    folder = tmp_path_factory.mktemp("stack")
    core = folder / "core"
    environment = os.environ | {"PYHARNESS_HOME": str(folder / "home"), "OMP_NUM_THREADS": "1"}
    with subprocess.Popen([sys.executable, PROGRAM], stdout=subprocess.PIPE, env=environment) as program:
        try:
            assert program.stdout.readline() == b"ready\n"
            # Not the code and the libraries, which lie in files: half a gigabyte less.
            Path(f"/proc/{program.pid}/coredump_filter").write_text("0x33", encoding="ascii")
            attach = f"ph-attach-at {program.pid} {KERNEL}"
            live = collect(folder / "live.json", attach, environment, NATIVE_CORE=str(core), NATIVE_ALL="1")
            after = Path(f"/proc/{program.pid}/status").read_text(encoding="ascii")
        finally:
            program.kill()
    python = "python from pyharness.ingdb.opening import report; report.open_core"
    dead = collect(folder / "dead.json", f'{python}("{core}")', environment)
    core.unlink()
    return {"live": live, "core": dead, "status": after}


def collect(answer, command, environment, **settings):
    load = ROOT / "pyharness/ingdb/load.py"
    commands = ("set width 0", f"source {load}", command, f"source {HERE / 'native_collect.py'}")
    words = ["gdb", "-nx", "-q", "-batch", *(word for one in commands for word in ("-ex", one))]
    environment = environment | settings | {"NATIVE_ANSWER": str(answer)}
    done = subprocess.run(words, capture_output=True, text=True, check=False, env=environment, timeout=150)
    assert answer.exists(), f"{words}\n{done.stdout}\n{done.stderr}"
    return json.loads(answer.read_text()) | {"said": done.stdout}


def on_the_stack(stack):
    """Without inlined frames and frames of tail calls: symbols tell of them, they are not on the stack."""
    kept = [frame[:2] for frame in stack if frame[4] != TAIL_CALL]
    return [frame for above, frame in zip([None, *kept], kept, strict=False) if not above or above[1] != frame[1]]


def the_stack(found):
    return next(stack for stack in found["ours"].values() if stack[0][2] == KERNEL)


@pytest.mark.rotated_tests(turns=8, number=1)
def test_every_thread_has_the_frames_that_gdb_finds_with_all_symbols(seen):
    live = seen["live"]
    assert len(live["ours"]) >= 2
    for lwp, stack in live["ours"].items():
        assert on_the_stack(stack) == on_the_stack(live["theirs"][lwp]), lwp
        # A distribution's libc and interpreter may be stripped: then nothing names their static functions.
        assert stack[-1][2] in {"_start", "__clone3", "clone3", "__clone", "??"}, lwp


def test_torch_is_named_and_not_read(seen):
    named = {frame[2]: Path(frame[3]).name for frame in the_stack(seen["live"]) if frame[3]}
    assert {name: named.get(name) for name in TORCH} == TORCH
    assert not any("libtorch" in path for path in seen["live"]["libraries"])
    assert not any(frame[2] == "??" and "libtorch" in frame[3] for frame in the_stack(seen["live"]))


def test_names_are_those_of_gdb(seen):
    theirs = {frame[0]: frame[2] for stack in seen["live"]["theirs"].values() for frame in stack}
    for frame in the_stack(seen["live"]):
        library = Path(frame[3] or "").name
        if library.startswith("libtorch"):
            assert frame[2] == theirs[frame[0]]


def test_the_bt_of_gdb_has_the_names(seen):
    for name in TORCH:
        assert f" in {name} ()" in seen["live"]["bt"]
    assert not any(" ?? ()" in line and "libtorch" in line for line in seen["live"]["bt"].splitlines())


def test_the_core_has_the_same_stacks(seen):
    def shown(found):
        return {lwp: [(frame[0], frame[2]) for frame in stack] for lwp, stack in found["ours"].items()}

    assert shown(seen["core"]) == shown(seen["live"])
    assert not any("libtorch" in path for path in seen["core"]["libraries"])


def test_the_stop_is_told_and_the_program_runs_on(seen):
    assert f"is at {KERNEL} () at " in seen["live"]["said"]
    assert "rms_norm.cpp:" in seen["live"]["said"]
    assert "TracerPid:\t0" in seen["status"]
