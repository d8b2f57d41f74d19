"""Core files as people get them: the kernel's of a program that crashed, gdb's of one that lives on."""

import os
import resource
import subprocess

from kit.command import PYHARNESS
from kit.paths import PROGRAMS

PROGRAM = PROGRAMS / "crash_generated.py"
_RUN = (*PYHARNESS, "run", str(PROGRAM))
_GDB = ("gdb", "-nx", "-batch", "-iex", "set auto-solib-add off", "-iex", "set debuginfod enabled off")


def of_the_crash(folder, path):
    """The program dies of SIGSEGV in native code; gdb makes the core where the kernel gives it to somebody else."""
    environment = _environment(path)
    died = subprocess.run(
        _RUN, cwd=folder, env=environment, preexec_fn=_allow_cores, capture_output=True, text=True, check=False
    )
    assert died.returncode == -11, died.stderr
    made = list(folder.glob("core*"))
    if made:
        return made[0]
    core = folder / "core"
    _make(core, "-ex", "run", "-ex", f"generate-core-file {core}", "--args", *_RUN, env=environment)
    return core


def _allow_cores():
    _, hard = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))


def of_the_living(folder, path):
    """The program waits in native code with the GIL held, and runs on."""
    core, pipe = folder / "core.living", subprocess.PIPE
    with subprocess.Popen([*_RUN, "waits"], stdin=pipe, stdout=pipe, env=_environment(path)) as program:
        try:
            assert program.stdout.read(1) == b"w"
            _make(core, "-p", str(program.pid), "-ex", f"generate-core-file {core}")
            assert program.poll() is None
        finally:
            program.kill()
    return core


def _environment(path):
    return {**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1"}


def _make(core, *options, env=None):
    made = subprocess.run([*_GDB, *options], env=env, capture_output=True, text=True, check=False)
    assert core.exists(), f"{made.stdout}\n{made.stderr}"
