"""``pyharness vscode``: the launch.json that it writes, and what it says when it cannot."""

import json
import os
from pathlib import Path

import pytest

from kit.paths import ROOT

HEAD = "// Made by `pyharness vscode"


def written(folder):
    """What the file says, without its comments, and its text."""
    text = (folder / ".vscode/launch.json").read_text(encoding="utf-8")
    assert text.startswith(HEAD)
    return json.loads("".join(line for line in text.splitlines() if not line.startswith("//"))), text


def test_this_repository_has_what_the_command_writes(pyharness):
    made = pyharness("vscode", "--script", "examples/transformer.py", "--build", "build", "--print", ROOT)
    assert made.returncode == 0, made.stderr
    assert made.stdout == (ROOT / ".vscode/launch.json").read_text(encoding="utf-8")


def test_a_project_without_an_environment_takes_the_chosen_interpreter(pyharness, tmp_path):
    result = pyharness("vscode")
    assert result.returncode == 0, result.stderr
    file, text = written(tmp_path)
    assert "${command:python.interpreterPath}" in text
    assert "preLaunchTask" not in text
    assert file["compounds"][0]["name"] == "Python + gdb attach: this file"
    assert "ms-vscode.cpptools" in result.stdout


def test_its_own_environment_script_and_task_are_named(pyharness, tmp_path):
    project = tmp_path / "a project"
    (project / "venv/bin").mkdir(parents=True)
    (project / "venv/bin/python").symlink_to("/bin/false")
    (project / "train.py").touch()
    result = pyharness("vscode", project, "--script", "a project/train.py", "--build", "compile")
    assert result.returncode == 0, result.stderr
    assert "has no task 'compile'" in result.stdout
    assert "pyharness is not installed in" in result.stdout
    file, text = written(project)
    assert f"{HEAD} --script train.py --build compile`" in text
    first = file["configurations"][0]
    assert first["args"][-1] == "${workspaceFolder}/train.py"
    assert first["python"] == "${workspaceFolder}/venv/bin/python"
    assert {one.get("preLaunchTask") for one in file["compounds"]} == {"compile"}
    assert str(tmp_path) not in text


def test_nothing_is_noted_where_nothing_is_missing(pyharness, tmp_path):
    (tmp_path / ".venv").symlink_to(ROOT / ".venv")
    (tmp_path / ".vscode").mkdir()
    (tmp_path / ".vscode/tasks.json").write_text('{"tasks": [{"label": "compile"}]}')
    result = pyharness("vscode", "--build", "compile")
    assert len(result.stdout.splitlines()) == 2, result.stdout


def test_a_file_that_is_there_is_left_alone_unless_forced(pyharness, tmp_path):
    (tmp_path / ".vscode").mkdir()
    (tmp_path / ".vscode/launch.json").write_text("mine")
    refused = pyharness("vscode")
    assert refused.returncode == 2
    assert "is there already" in refused.stderr
    assert "--overwrite" in refused.stderr
    assert (tmp_path / ".vscode/launch.json").read_text() == "mine"
    assert pyharness("vscode", "--overwrite").returncode == 0
    assert written(tmp_path)[0]["version"] == "0.2.0"


@pytest.mark.parametrize("script", ["nothing.py", "../outside.py", "folder"])
def test_a_script_that_is_none_of_the_folder_is_refused(pyharness, tmp_path, script):
    project = tmp_path / "project"
    (project / "folder").mkdir(parents=True)
    (tmp_path / "outside.py").touch()
    result = pyharness("vscode", "--script", script, cwd=project)
    assert result.returncode == 2
    assert "There is no script" in result.stderr
    assert not (project / ".vscode").exists()


def test_a_folder_that_cannot_be_written_is_told(pyharness, tmp_path):
    (tmp_path / ".vscode").touch()
    result = pyharness("vscode")
    assert result.returncode == 1
    assert "is not a folder" in result.stderr
    assert "bug" not in result.stderr


@pytest.mark.parametrize("link", [".vscode", ".vscode/launch.json"])
def test_no_link_leads_out_of_the_project(pyharness, tmp_path, link):
    theirs, project = tmp_path / "theirs", tmp_path / "project"
    theirs.mkdir()
    (theirs / "launch.json").write_text("theirs")
    (project / link).parent.mkdir(parents=True)
    (project / link).symlink_to(theirs / "launch.json" if "/" in link else theirs)
    result = pyharness("vscode", project, "--overwrite")
    assert result.returncode == 1
    assert "outside of the project: a link leads to" in result.stderr
    assert (theirs / "launch.json").read_text() == "theirs"


def test_a_folder_that_nobody_can_write_is_told(pyharness):  # not even root: it is the kernel's
    result = pyharness("vscode", Path("/proc/self/fdinfo"))
    assert result.returncode == 1
    assert "cannot be written" in result.stderr
    assert "--print" in result.stderr


def test_tasks_that_are_no_file_are_none(pyharness, tmp_path):
    (tmp_path / ".vscode").mkdir()
    os.mkfifo(tmp_path / ".vscode" / "tasks.json")
    result = pyharness("vscode", "--build", "compile")
    assert result.returncode == 0
    assert "has no task 'compile'" in result.stdout + result.stderr
