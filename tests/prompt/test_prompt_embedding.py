"""A program in C++ that runs Python: started at the prompt, attached to, and on threads that C++ makes."""

import os
import subprocess

import pytest

from kit import needs
from kit.builds import embedding
from kit.marks import line_of
from kit.paths import PROGRAMS

pytestmark = pytest.mark.rotated_tests(turns=6)

SOURCE, SCRIPT = PROGRAMS / "embedding.cpp", PROGRAMS / "embedded.py"
RETURN = f"py:{SCRIPT}:{line_of('return', SCRIPT)}"


@pytest.fixture
def program():
    return needs.a_libpython(embedding())


def shown(text):
    """The functions of a stack, innermost first."""
    lines = [line.split() for line in text.replace("→", " ").splitlines()]
    return [words[2] for words in lines if words[1:2] in (["python"], ["native"])]


def test_from_python_into_the_program_and_out(piped, program):
    commands = ["bt", "b native:engine::scale", "c", "bt", "p value", "out", "out", "bt", "delete", "c"]
    done = piped(commands, str(PROGRAMS), program=program)
    assert done.returncode == 0, done.stderr
    assert "entry · python · <module> · " in done.stdout
    assert "breakpoint · native · engine::scale · " in done.stdout
    assert f"embedding.cpp:{line_of('scale', SOURCE)}" in done.stdout
    assert "engine::scale() returned 1" in done.stdout
    assert "step · python · tick · " in done.stdout
    stacks = [part.partition("(ph")[0] for part in done.stdout.split("bt\n")[1:]]
    assert [shown(stack) for stack in stacks] == [
        ["<module>", "main"],
        ["engine::scale", "scale", "tick", "engine::turn", "main"],
        ["tick", "engine::turn", "main"],
    ]
    assert done.stdout.endswith("The program ended with 0.\n")


def test_lines_of_python_on_threads_that_the_program_makes(piped, program):
    """debugpy knows the threads that Python starts; these come to Python anew at each call."""
    commands = ["bt", "p step > 0", "c", "q"]
    done = piped(commands, str(PROGRAMS), program=program, options=["--at", f"{RETURN} if step > 0"])
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("breakpoint · python · tick") == 2
    stack = done.stdout.split("bt\n")[1].partition("(ph")[0]
    assert shown(stack) == ["tick", "engine::turn", "engine::work"]
    assert "p step > 0\nTrue\n" in done.stdout


def test_one_that_has_python_read_no_environment(pyharness, program):
    """The program cannot call in; the prompt attaches to it."""
    words = ("isolated", str(PROGRAMS))
    done = pyharness("debug", program, "--", *words, stdin=None, input="bt\n")
    assert "no Python of it called in" in done.stderr
    assert "isolated PyConfig. `pyharness debug PID` needs none." in done.stderr
    with subprocess.Popen([program, *words], env={**os.environ, "STEPS": "100000"}) as running:
        try:
            commands = f"b {RETURN}\nc\nbt\ndetach\n"
            done = pyharness("debug", running.pid, stdin=None, input=commands)
            assert done.returncode == 0, done.stderr
            stack = done.stdout.split("(ph) bt\n")[1].partition("(ph")[0]
            assert shown(stack) == ["tick", "engine::turn", "engine::work"]
            assert running.poll() is None
        finally:
            running.kill()


@pytest.mark.parametrize("verb", ["step", "run", "trace"])
def test_what_starts_scripts_says_what_starts_programs(verb, pyharness, program):
    done = pyharness(verb, str(program))
    assert done.returncode == 2
    assert f"pyharness: {program} is a program, and no Python file.\n`pyharness debug {program}`" in done.stderr


def test_a_shell_script_is_a_program_too(pyharness, program, tmp_path):
    script = tmp_path / "start"
    script.write_text(f'#!/bin/sh\nexec {program} "$@"\n')
    script.chmod(0o755)
    done = pyharness("debug", script, "--at", RETURN, "--", PROGRAMS, stdin=None, input="bt\ndelete\nc\n")
    assert done.returncode == 0, done.stderr
    assert "breakpoint · python · tick" in done.stdout


def test_options_that_are_a_scripts(pyharness, program):
    done = pyharness("debug", program, "--python", "python3", stdin=None, input="")
    assert done.returncode == 2
    assert f"{program} is a program, and no Python file: it takes no --python." in done.stderr


def test_a_program_that_runs_no_python(pyharness):
    done = pyharness("debug", "/bin/true", stdin=None, input="c\n")
    assert done.returncode == 1
    assert "The program ended with 0, and no Python of it called in." in done.stderr


def test_a_library_is_no_program(pyharness, tmp_path):
    subprocess.run(["gcc", "-shared", "-o", tmp_path / "some.so", "-x", "c", "/dev/null"], check=True)
    done = pyharness("debug", tmp_path / "some.so", stdin=None, input="c\n")
    assert done.returncode == 2
    assert "some.so is not a core file" in done.stderr
