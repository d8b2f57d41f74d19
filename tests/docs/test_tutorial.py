"""The tutorial, literally: its files, its commands, and what they are said to print."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from pages import commands
from shown import missing

from kit import needs
from kit.paths import ROOT

FILES = ROOT / "examples" / "tutorial"
PAGE = ROOT / "docs" / "tutorial.md"
COMMANDS = [each for each in commands() if each.block.not_run.startswith("tests/docs/test_tutorial.py")]
BUILD = "sh debugging/build.sh"
"""Takes half a minute for torch's headers; that it builds is tested with `init`."""
EXPORT = "export PYTHONPATH=build/pyharness-debug/lib"
EXPORTED = next(each.line for each in COMMANDS if each.text == EXPORT)
"""The session before it needs no such path."""
SAVED = {line.split()[1]: each for each in COMMANDS for line in each.typed if line.startswith("save ")}
"""What is saved at the prompt, and by which command."""


def test_the_files_are_those_of_the_example():
    block = re.compile(r"^\*\*(\S+)\*\*\n\n(?:<!--[^\n]*-->\n)?```\w+\n(.*?)^```", re.DOTALL | re.MULTILINE)
    shown = dict(block.findall(PAGE.read_text()))
    assert shown == {path.name: path.read_text() for path in FILES.iterdir() if path.is_file()}


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A folder with the tutorial's files."""
    folder = tmp_path_factory.mktemp("tutorial") / "project"
    folder.mkdir()
    for path in FILES.iterdir():
        if path.is_file():
            (folder / path.name).write_bytes(path.read_bytes())
    return folder


@pytest.fixture(scope="module")
def extension(project):
    """rows.cpp built as our own sources are, with their precompiled header."""
    known = json.loads((ROOT / "build" / "debug" / "compile_commands.json").read_text())
    (entry,) = [each for each in known if each["file"].endswith("csrc/ops/rms_norm.cpp")]
    built = project.with_name("rows.so")
    words = shlex.split(entry["command"])
    words[words.index("-o") + 1], words[words.index("-c") + 1] = str(built.with_suffix(".o")), str(project / "rows.cpp")
    subprocess.run([*words, "-w"], cwd=entry["directory"], check=True, timeout=170)
    libraries = (f"-L{Path(torch.__file__).parent / 'lib'}", "-ltorch_cpu", "-lc10")
    subprocess.run([words[0], "-shared", "-o", str(built), str(built.with_suffix(".o")), *libraries], check=True)
    return built


@pytest.fixture(scope="module")
def begun(project, extension):
    """Run a command as the reader does who has come to it: ``init`` has been typed, its extension is built."""
    plain = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    exported = dict([shlex.split(EXPORT)[1].split("=", 1)])

    def run(command):
        words = shlex.split(command.text)
        for file in SAVED.keys() & words:  # that command may be another day's
            if not (project / file).exists():
                run(SAVED[file])
        environment = {**plain, **(exported if command.line > EXPORTED else {})}
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True, "input": command.input}
        done = subprocess.run(words, cwd=project, env=environment, timeout=120, check=False, **streams)
        told = f"{command}: $ {command.text}\nexit status {done.returncode}\n{done.stdout}"
        assert done.returncode == command.block.status, told
        assert not missing(command.shown, done.stdout), f"{missing(command.shown, done.stdout)} is not in\n{told}"

    run(COMMANDS[0])
    library = project / "build" / "pyharness-debug" / "lib"
    library.mkdir(parents=True)
    (library / "rows.so").symlink_to(extension)
    return run


def test_it_begins_with_the_build():
    first, second, *_ = (each.text for each in COMMANDS)
    assert (first, second) == ("pyharness init", BUILD)
    assert [each.text for each in COMMANDS].count(EXPORT) == 1
    assert len(COMMANDS) == 12


@pytest.mark.slow
@pytest.mark.rotated_tests(turns=3, number=1)
@pytest.mark.rotated
@needs.a_fast_debugger
@pytest.mark.parametrize("command", [each for each in COMMANDS[2:] if each.text != EXPORT], ids=lambda each: each.text)
def test_a_command_prints_what_is_said(begun, command):
    begun(command)
