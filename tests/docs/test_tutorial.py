"""The tutorial, literally: its files, its commands in their order, and what they are said to print."""

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


def test_the_files_are_those_of_the_example():
    block = re.compile(r"^\*\*(\S+)\*\*\n\n(?:<!--[^\n]*-->\n)?```\w+\n(.*?)^```", re.DOTALL | re.MULTILINE)
    shown = dict(block.findall(PAGE.read_text()))
    assert shown == {path.name: path.read_text() for path in FILES.iterdir() if path.is_file()}


@pytest.fixture
def project(tmp_path):
    """A folder with the tutorial's files."""
    folder = tmp_path / "project"
    folder.mkdir()
    for path in FILES.iterdir():
        if path.is_file():
            (folder / path.name).write_bytes(path.read_bytes())
    return folder


@pytest.fixture
def extension(tmp_path, project):
    """rows.cpp built as our own sources are, with their precompiled header."""
    known = json.loads((ROOT / "build" / "debug" / "compile_commands.json").read_text())
    (entry,) = [each for each in known if each["file"].endswith("csrc/ops/rms_norm.cpp")]
    built = tmp_path / "rows.so"
    words = shlex.split(entry["command"])
    words[words.index("-o") + 1], words[words.index("-c") + 1] = str(built.with_suffix(".o")), str(project / "rows.cpp")
    subprocess.run([*words, "-w"], cwd=entry["directory"], check=True, timeout=170)
    libraries = (f"-L{Path(torch.__file__).parent / 'lib'}", "-ltorch_cpu", "-lc10")
    subprocess.run([words[0], "-shared", "-o", str(built), str(built.with_suffix(".o")), *libraries], check=True)
    return built


@needs.a_fast_debugger
def test_the_commands_print_what_is_said(project, extension):
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    assert [each.text for each in COMMANDS].count(BUILD) == 1
    for command in COMMANDS:
        words = shlex.split(command.text)
        if words[0] == "export":
            environment |= dict([words[1].split("=", 1)])
        elif command.text == BUILD:
            library = project / "build" / "pyharness-debug" / "lib"
            library.mkdir(parents=True)
            (library / "rows.so").symlink_to(extension)
        else:
            done = subprocess.run(
                words,
                cwd=project,
                env=environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                timeout=120,
                check=False,
            )
            told = f"{command}: $ {command.text}\nexit status {done.returncode}\n{done.stdout}"
            assert done.returncode == command.block.status, told
            assert not missing(command.shown, done.stdout), f"{missing(command.shown, done.stdout)} is not in\n{told}"
    assert len(COMMANDS) == 10
