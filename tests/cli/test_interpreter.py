"""Which interpreter runs the program, where pyharness lives in an environment of its own."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from kit.command import PYHARNESS
from pyharness.host import interpreters
from pyharness.host.interpreters import interpreter_for

pytestmark = pytest.mark.rotated_tests(turns=2)

ENVIRONMENTS = ("VIRTUAL_ENV", "CONDA_PREFIX", "CONDA_DEFAULT_ENV")
SCRIPT = "import sys\nprint('prefix', sys.prefix)\n"


@pytest.fixture(autouse=True)
def no_environment_is_active(monkeypatch):
    for name in ENVIRONMENTS:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def project(tmp_path):
    """A project with a script two folders below it."""
    (tmp_path / "pyproject.toml").touch()
    folder = tmp_path / "deep" / "down"
    folder.mkdir(parents=True)
    (folder / "train.py").write_text(SCRIPT)
    return tmp_path


def environment(folder):
    """A real one, without pip."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    return folder


def settings(project, text):
    (project / ".vscode").mkdir()
    (project / ".vscode/settings.json").write_text(text)


def test_the_projects_environment_runs_the_program(project, pyharness):
    found = environment(project / ".venv")
    line = "py:train.py:2"
    folder = project / "deep/down"
    done = pyharness("step", "train.py", "--at", line, "--print", "sys.prefix", "--json", cwd=folder)
    assert f"The program's Python: {found}/bin/python (the project's .venv; --python names another)." in done.stderr
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["stops"][0]["printed"]["sys.prefix"] == repr(str(found))


@pytest.mark.parametrize("words", [("run",), ("trace",), ("step", "--json")])
def test_every_verb_that_runs_a_program_takes_it(project, pyharness, words):
    found = environment(project / ".venv")
    done = pyharness(*words, "train.py", cwd=project / "deep/down")
    assert f"prefix {found}" in done.stdout + done.stderr


def test_a_session_file_takes_that_of_its_program(project, pyharness, tmp_path_factory):
    found = environment(project / ".venv")
    file = project / "deep/down/session.toml"
    file.write_text('[program]\nscript = "train.py"\n[[step]]\nat = "py:train.py:2"\nprint = ["sys.prefix"]\n')
    done = pyharness("session", "run", file, cwd=tmp_path_factory.mktemp("elsewhere"))
    assert repr(str(found)) in done.stdout, done.stderr


def test_a_named_interpreter_comes_before_all_others(project, pyharness):
    environment(project / ".venv")
    named = environment(project / "named")
    done = pyharness("run", "--python", named / "bin/python", "train.py", cwd=project / "deep/down")
    assert done.stdout == f"prefix {named}\n"
    assert "The program's Python" not in done.stderr


def test_an_activated_environment_comes_before_the_projects(project, monkeypatch):
    environment(project / ".venv")
    active = environment(project / "active")
    monkeypatch.setenv("VIRTUAL_ENV", str(active))
    assert interpreter_for(project) == (f"{active}/bin/python", "VIRTUAL_ENV")


def test_condas_base_is_everybodys_and_comes_last(project, monkeypatch):
    conda = environment(project / "conda")
    monkeypatch.setenv("CONDA_PREFIX", str(conda))
    assert interpreter_for(project).path == f"{conda}/bin/python"
    found = environment(project / ".venv")
    assert interpreter_for(project).path == f"{conda}/bin/python"
    monkeypatch.setenv("CONDA_DEFAULT_ENV", "base")
    assert interpreter_for(project).path == f"{found}/bin/python"


def test_an_environment_that_is_gone_is_passed_over(project, monkeypatch):
    monkeypatch.setenv("VIRTUAL_ENV", str(project / "removed"))
    found = environment(project / ".venv")
    assert interpreter_for(project).path == f"{found}/bin/python"


@pytest.mark.parametrize("named", ["${workspaceFolder}/env/bin/python", "env/bin/python", "env"])
def test_the_editors_choice(project, named):
    found = environment(project / "env")
    settings(project, f'{{\n  // chosen by hand\n  "python.defaultInterpreterPath": "{named}",\n}}\n')
    chosen = interpreter_for(project / "deep/down")
    assert chosen.path == f"{found}/bin/python"
    assert "python.defaultInterpreterPath" in chosen.why


@pytest.mark.parametrize("text", ["{", "[]", '{"python.defaultInterpreterPath": 3}', "[" * 3000, "\0"])
def test_settings_that_name_none(project, text):
    settings(project, text)
    assert interpreter_for(project) is None


def test_a_script_of_another_project_brings_its_own(project, tmp_path_factory):
    found = environment(project / ".venv")
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    assert interpreter_for(elsewhere) is None
    assert interpreter_for(elsewhere, str(project / "deep/down/train.py")).path == f"{found}/bin/python"


def test_beyond_the_project_nothing_is_looked_for(project):
    inner = project / "inner"
    (inner / ".git").mkdir(parents=True)
    environment(project / ".venv")
    assert interpreter_for(inner) is None


def test_no_environment_of_another_user_is_run(project):
    environment(project / ".venv")
    (project / ".venv").chmod(0o777)
    assert interpreter_for(project) is None


def test_the_environment_that_pyharness_lives_in_is_this_one(project, monkeypatch):
    monkeypatch.setenv("VIRTUAL_ENV", sys.prefix)
    environment(project / ".venv")
    assert interpreter_for(project) is None


def test_a_tool_takes_the_python_of_path(project, monkeypatch):
    """What pipx and uv make is for the tool alone: the file that they leave in it stands in for them here."""
    found = environment(project / "on path")
    (project / "uv-receipt.toml").touch()
    monkeypatch.setattr(interpreters.sys, "prefix", str(project))
    monkeypatch.setattr(interpreters.sys, "executable", str(project / "bin/python"))
    monkeypatch.setenv("PATH", f"{found}/bin{os.pathsep}{os.environ['PATH']}")
    assert interpreter_for(project / "deep").path == f"{found}/bin/python3"


def test_the_command_line_of_plain_python_is_not_changed_where_there_is_no_other(project):
    done = subprocess.run(
        [*PYHARNESS, "run", "train.py"], cwd=project / "deep/down", capture_output=True, text=True, check=True
    )
    assert done.stdout == f"prefix {sys.prefix}\n"
    assert "The program's Python" not in done.stderr
    assert Path(sys.prefix).is_dir()


NET = """import torch
class Net(torch.nn.Module):
    def forward(self, x):
        return x.relu() + 1
def wrong(gm):
    import sys
    print("under", sys.prefix, file=sys.stderr)
    next(n for n in gm.graph.nodes if n.target == "relu").target = "abs"
    gm.recompile()
    return gm
inputs = (torch.ones(2) * -1,)
"""


def torch_beside(folder):
    """An environment that has torch and nothing of ours: what this one has, without its .pth files."""
    import click
    import torch

    found = environment(folder)
    (packages,) = found.glob("lib/python*/site-packages")
    for each in Path(torch.__file__).parents[1].iterdir():
        if not each.name.startswith(("click", "rich", "pygments", "debugpy", "pyharness", "__editable__")):
            (packages / each.name).symlink_to(each)
    missing = subprocess.run([found / "bin/python", "-c", "import click"], capture_output=True, check=False)
    assert missing.returncode, f"{click.__file__} is not to be found there"
    return found


@pytest.mark.rotated
@pytest.mark.parametrize("named", [False, True], ids=["found", "named"])
def test_verify_goes_over_into_the_environment_that_has_torch(project, pyharness, named):
    found = torch_beside(project / ("other" if named else ".venv"))
    (project / "net.py").write_text(NET)
    choice = ["--python", found / "bin/python"] if named else []
    done = pyharness("fx", "verify", "net.py:Net", "net.py:wrong", "--json", *choice, cwd=project)
    assert done.returncode == 1, done.stderr
    assert json.loads(done.stdout)["ok"] is False
    assert f"under {found}" in done.stderr


def test_verify_with_an_interpreter_that_is_none(project, pyharness):
    (project / "net.py").write_text(NET)
    done = pyharness("fx", "verify", "net.py:Net", "net.py:wrong", "--python", "/no/python", cwd=project)
    assert done.returncode == 2
    assert "There is no Python interpreter '/no/python'." in done.stderr
