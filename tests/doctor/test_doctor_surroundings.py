"""The state folder, VS Code and its launch.json, and environment variables that get in the way."""

import json
import os
import subprocess

import pytest

from kit import needs
from kit.command import PYHARNESS
from pyharness.doctor import editor, environment
from pyharness.doctor.system import state_folder

HURTING = [
    ({"LD_PRELOAD": "/lib/libasan.so.8"}, "LD_PRELOAD", "sanitizer"),
    ({"LD_PRELOAD": "/lib/libjemalloc.so.2"}, "LD_PRELOAD", "into gdb"),
    ({"PYTHONHOME": "/opt/conda"}, "PYTHONHOME", "gdb's own Python"),
    ({"PYTHONBREAKPOINT": "0"}, "PYTHONBREAKPOINT", "breakpoint() do nothing"),
    ({"TORCHDYNAMO_DISABLE": "1"}, "TORCHDYNAMO_DISABLE", "torch.compile off"),
    ({"TORCH_COMPILE_DISABLE": "1"}, "TORCH_COMPILE_DISABLE", "torch.compile off"),
]


@pytest.fixture
def clean(monkeypatch):
    """An environment in which nothing is set that is looked at."""
    names = [name for env, _, _ in HURTING for name in env]
    for name in (
        *names,
        "LD_LIBRARY_PATH",
        "PYTHONPATH",
        "COVERAGE_PROCESS_START",
        "PYHARNESS_BUILD",
        "PYHARNESS_HOME",
    ):
        monkeypatch.delenv(name, raising=False)


def test_a_private_folder(examined, monkeypatch, tmp_path):
    monkeypatch.setenv("PYHARNESS_HOME", str(tmp_path / "home"))
    found = examined(state_folder.folder)
    assert (found["state-folder"].state, found["state-space"].state) == ("ok", "ok")
    assert str(tmp_path / "home") in found["state-folder"].seen


def test_a_folder_that_others_can_read(examined, monkeypatch, tmp_path):
    tmp_path.chmod(0o755)
    monkeypatch.setenv("PYHARNESS_HOME", str(tmp_path))
    found = examined(state_folder.folder)["state-folder"]
    assert (found.state, "mode 0755" in found.seen, found.remedy) == ("problem", True, f"chmod 700 {tmp_path}")
    subprocess.run(found.remedy.split(), check=True)
    assert examined(state_folder.folder)["state-folder"].state == "ok"


def test_a_file_in_its_place(examined, monkeypatch, tmp_path):
    (tmp_path / "home").write_text("")
    monkeypatch.setenv("PYHARNESS_HOME", str(tmp_path / "home"))
    found = examined(state_folder.folder)["state-folder"]
    assert (found.state, "PYHARNESS_HOME" in found.remedy) == ("problem", True)


def test_a_folder_of_someone_else(examined, monkeypatch, tmp_path):
    needs.root("only root can give a folder away")
    tmp_path.chmod(0o700)
    os.chown(tmp_path, 65534, 65534)
    monkeypatch.setenv("PYHARNESS_HOME", str(tmp_path))
    found = examined(state_folder.folder)["state-folder"]
    assert (found.state, "belongs to user 65534" in found.seen) == ("problem", True)


def test_a_full_disk(examined, monkeypatch, tmp_path):
    needs.a_small_disk(tmp_path, "1m")
    try:
        monkeypatch.setenv("PYHARNESS_HOME", str(tmp_path))
        found = examined(state_folder.folder)["state-space"]
        assert (found.state, "1 MB" in found.seen) == ("warning", True)
    finally:
        subprocess.run(["umount", tmp_path], check=True)


@pytest.fixture
def home(monkeypatch, tmp_path):
    """A home folder, and a path on which nothing is."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    return tmp_path / "home"


@pytest.mark.usefixtures("home")
def test_no_editor(examined):
    assert examined(editor.executable)["vscode"].state == "not applicable"


def test_editors(examined, home, executable):
    executable("code", "")
    found = examined(editor.executable)
    assert (found["vscode"].state, found["vscode-extension"].state) == ("ok", "warning")
    assert "ms-python.debugpy and ms-vscode.cpptools" in found["vscode-extension"].seen
    folder = home / ".vscode-server/extensions"
    for name in ("ms-python.debugpy-2025.8.0-linux-x64", "ms-vscode.cpptools-1.25.0"):
        (folder / name).mkdir(parents=True)
    stock = examined(editor.executable)["vscode-extension"]
    assert (stock.state, "two sessions" in stock.seen) == ("ok", True)
    (folder / "pyharness.pyharness-0.1.0").mkdir()
    assert "is installed" in examined(editor.executable)["vscode-extension"].seen


def launch_json(folder, text):
    (folder / ".vscode").mkdir(exist_ok=True)
    (folder / ".vscode/launch.json").write_text(text)


def test_no_launch_json(examined, tmp_path):
    found = examined(editor.launch, project=tmp_path)["launch-json"]
    assert (found.state, "pyharness vscode" in found.remedy) == ("not applicable", True)


@pytest.mark.parametrize(
    ("text", "state", "part"),
    [
        ('{"configurations": [{"type": "pyharness", "program": "${file}"}]}', "ok", "has 1 configuration "),
        ('// "a"\n{"configurations": [ /* x */ {"type": "pyharness", "name": "a // b",},],}', "ok", "has 1"),
        ('{"configurations": [{"type": "debugpy"}]}', "warning", "uses pyharness"),
        (
            '{"configurations": [{"type": "pyharness", "python": "${workspaceFolder}/no/python"}]}',
            "warning",
            "/no/python",
        ),
        ('{"configurations": [', "warning", "cannot be read"),
        ("[]", "warning", "cannot be read"),
    ],
)
def test_launch_json(examined, tmp_path, text, state, part):
    launch_json(tmp_path, text)
    found = examined(editor.launch, project=tmp_path)["launch-json"]
    assert (found.state, part in found.seen) == (state, True), found.seen


def test_what_our_own_verb_writes(examined, tmp_path):
    (tmp_path / "train.py").write_text("")
    command = [*PYHARNESS, "vscode", str(tmp_path), "--script", "train.py"]
    subprocess.run(command, check=True, capture_output=True)
    found = examined(editor.launch, project=tmp_path)["launch-json"]
    assert (found.state, "configurations that use pyharness" in found.seen) == ("ok", True)


@pytest.mark.usefixtures("clean")
def test_an_environment_without_them(examined):
    assert examined(environment.variables)["environment"].state == "ok"


@pytest.mark.usefixtures("clean")
@pytest.mark.parametrize(("env", "check", "part"), HURTING)
def test_variables(examined, monkeypatch, env, check, part):
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    found = examined(environment.variables)[check]
    assert (found.state, part in found.seen) == ("warning", True)
    assert found.remedy


@pytest.mark.usefixtures("clean")
def test_folders_that_shadow_what_gdb_needs(examined, monkeypatch, tmp_path):
    monkeypatch.setenv("LD_LIBRARY_PATH", f"/nowhere:{tmp_path}")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    assert examined(environment.variables)["environment"].state == "ok"
    (tmp_path / "libstdc++.so.6").write_text("")
    (tmp_path / "typing.py").write_text("")
    found = examined(environment.variables)
    assert (found["LD_LIBRARY_PATH"].state, found["PYTHONPATH"].state) == ("warning", "warning")
    assert "libstdc++.so.6" in found["LD_LIBRARY_PATH"].seen
    assert "typing.py" in found["PYTHONPATH"].seen


def test_a_shadowed_module_does_keep_gdb_from_starting(tmp_path):
    """The reason that PYTHONPATH is looked at."""
    (tmp_path / "json.py").write_text("raise SystemExit('shadowed')")
    env = {**os.environ, "PYTHONPATH": str(tmp_path)}
    command = [needs.a_program("gdb"), "-nx", "-batch", "-ex", "python import json; print(json.dumps([1]))"]
    ended = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert json.dumps([1]) not in ended.stdout
