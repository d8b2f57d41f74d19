"""What a shell offers: in a real bash, zsh and fish where they are installed."""

import os
import pty
import select
import subprocess
import sys
from pathlib import Path

import pytest
from words_program import WORDS

from kit import needs
from kit.paths import ROOT

PATIENCE = 60


@pytest.fixture
def shell(environment, tmp_path):
    """Where a shell is typed to: files, and a ``pyharness`` on PATH."""
    (tmp_path / "bin").mkdir()
    script = tmp_path / "bin/pyharness"
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m pyharness "$@"\n')
    script.chmod(0o755)
    (tmp_path / "train.py").touch()
    (tmp_path / "sessions").mkdir()
    (tmp_path / "sessions/train.toml").touch()
    return {**environment, "PATH": f"{tmp_path / 'bin'}{os.pathsep}{environment['PATH']}", "TERM": "dumb"}


ASK = """
eval "$(pyharness completion bash)"
compopt() { :; }  # it works while a shell completes only
while IFS= read -r typed; do
    COMP_LINE=$typed COMP_POINT=${#typed} COMP_WORDBREAKS=$' :='
    _pyharness_completion pyharness
    echo "${COMPREPLY[*]}"
done
"""


def bash(shell, folder, *typed):
    command = ["bash", "--norc", "-c", ASK]
    lines = "".join(f"{line}\n" for line in typed)
    done = subprocess.run(
        command, env=shell, cwd=folder, input=lines, capture_output=True, text=True, timeout=PATIENCE, check=True
    )
    assert done.stderr == ""
    return [line.split() for line in done.stdout.splitlines()]


def test_bash_is_offered_verbs_options_places_and_sessions(shell, tmp_path):
    asked = {
        "pyharness st": ["step", "stack"],
        "pyharness fx det": ["determinism"],
        "pyharness step --into": ["--into", "--into-native"],
        "pyharness step train.py --at n": ["node:", "native:"],
        "pyharness step train.py --at py:tr": ["train.py:"],  # bash replaces what is behind the colon
        "pyharness session check sess": ["sessions/"],
        "pyharness session check sessions/": ["sessions/train.toml"],
        "pyharness completion f": ["fish"],
    }
    assert bash(shell, tmp_path, *asked) == list(asked.values())


def test_handles_and_ids_of_running_programs_are_offered(shell, tmp_path, started, pyharness):
    program = started("run", "--name", "walker-7", WORDS, "wait", stderr=None, stdout=subprocess.PIPE)
    while program.stdout.readline() != "waiting\n":
        assert program.poll() is None
    for verb in ("attach", "stack", "doctor"):
        by_name, by_id = bash(shell, tmp_path, f"pyharness {verb} walk", f"pyharness {verb} {program.pid}")
        assert by_name == ["walker-7"]
        assert str(program.pid) in by_id
    mistyped = pyharness("stack", "walkr-7")
    assert mistyped.returncode == 2
    assert "Did you mean walker-7" in mistyped.stderr
    program.communicate("\n", timeout=PATIENCE)


def typed_at(command, shell, folder, *lines, until):
    """What a terminal shows when ``lines`` are typed to an interactive shell, up to ``until``."""
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(folder)
        os.execvpe(command[0], command, shell)  # noqa: S606
    shown = b""
    try:
        for line in lines:
            os.write(terminal, line.encode())
        while until.encode() not in shown:
            ready, _, _ = select.select([terminal], [], [], PATIENCE)
            assert ready, shown
            shown += os.read(terminal, 4096)
    finally:
        os.close(terminal)
        os.waitpid(child, 0)
    return shown.decode(errors="replace")


def test_tab_completes_in_an_interactive_bash(shell, tmp_path):
    lines = ['eval "$(pyharness completion bash)"\n', "pyharness gdb-s\t --he\t && echo do''ne\n"]
    shown = typed_at(["bash", "--norc", "--noprofile", "-i"], shell, tmp_path, *lines, until="\ndone")
    assert "Usage: pyharness gdb-script" in shown


def test_zsh(shell, tmp_path):
    needs.a_program("zsh")
    words = {**shell, "_PYHARNESS_COMPLETE": "zsh_complete", "COMP_WORDS": "pyharness session ch", "COMP_CWORD": "2"}
    done = subprocess.run(["pyharness"], env=words, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[:2] == ["plain", "check"]
    lines = ["autoload -U compinit; compinit -u -D\n", 'eval "$(pyharness completion zsh)"\n']
    lines.append("pyharness gdb-s\t --he\t && echo do''ne\n")
    shown = typed_at(["zsh", "-f", "-i"], shell, tmp_path, *lines, until="\ndone")
    assert "Usage: pyharness gdb-script" in shown


def test_fish(shell, tmp_path):
    needs.a_program("fish")
    text = 'pyharness completion fish | source; complete -C "pyharness st"'
    done = subprocess.run(
        ["fish", "--no-config", "-c", text], env=shell, cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert [line.split("\t")[0] for line in done.stdout.splitlines()] == ["stack", "step"]


def test_a_shell_is_guessed_from_the_environment(pyharness, environment):
    for name in ("bash", "zsh", "fish"):
        assert "_pyharness_completion" in pyharness("completion", env={**environment, "SHELL": f"/bin/{name}"}).stdout
    unknown = pyharness("completion", env={**environment, "SHELL": "/bin/csh"})
    assert unknown.returncode == 2
    assert "pyharness completion bash|zsh|fish" in unknown.stderr


def test_completing_imports_no_torch(shell):
    words = {**shell, "_PYHARNESS_COMPLETE": "bash_complete", "COMP_WORDS": "pyharness fx verify --"}
    code = "import sys; from pyharness import cli; cli.execute([]); print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], env=words, cwd=ROOT, capture_output=True, text=True, check=True)
    assert "plain,--inputs" in done.stdout
    assert done.stdout.endswith("False\n")


def test_the_home_folder_is_left_alone(shell, tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    bash({**shell, "HOME": str(home)}, tmp_path, "pyharness st")
    assert list(Path(home).iterdir()) == []
