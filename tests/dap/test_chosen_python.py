"""Which Python runs the program is said where the client did not name it."""

import subprocess
import sys

import pytest
from debugging import Debugging


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A project with an environment of its own, and a script that tells under which it runs."""
    for name in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "pyproject.toml").touch()
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(tmp_path / ".venv")], check=True)
    (tmp_path / "train.py").write_text("import sys\nprint('prefix', sys.prefix)\n")
    return tmp_path


@pytest.mark.rotated
@pytest.mark.parametrize("named", [False, True])
def test_the_client_hears_of_a_choice_of_ours(dap, project, named):
    program = Debugging(dap.stdio(), str(project / "train.py"))
    python = {"python": sys.executable} if named else {}
    program.launch(cwd=str(project), **python)
    program.client.event("terminated")
    said = "".join(body["output"] for body in program.client.events("output"))
    choice = f"The program's Python: {project}/.venv/bin/python (the project's .venv; `python` names another)."
    assert (choice in said) != named
    assert f"prefix {sys.prefix if named else project / '.venv'}\n" in said
