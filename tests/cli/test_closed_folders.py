"""Folders that this user may not enter: what lies in them is not there, and none of them is a failure of ours."""

import json
import subprocess

import pytest

from kit import needs
from kit.command import PYHARNESS

pytestmark = pytest.mark.rotated_tests(turns=2)

_INSIDE = 'cd "$0/in" && chmod 0 .. && exec "$@"'


@pytest.fixture
def closed(tmp_path):
    """A folder that nobody may enter; ``in`` and a program lie in it."""
    folder = tmp_path / "closed"
    (folder / "in").mkdir(parents=True)
    (folder / "in/train.py").write_text("print('ran')\n")
    yield folder
    folder.chmod(0o755)


@pytest.fixture
def run(environment, tmp_path):
    """Run a command line as somebody whom the modes of files hold back."""
    before = needs.powerless("dac_override,dac_read_search", "root may read anything")

    def run(*words):
        command = [*before, *map(str, words)]
        return subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False)

    return run


def test_doctor_looks_at_the_rest(run, closed):
    closed.chmod(0)
    done = run(*PYHARNESS, "doctor", "--json")
    (found,) = (one for one in json.loads(done.stdout)["findings"] if one["area"] == "extension")
    assert found["state"] == "not applicable"
    assert "links to libtorch" in found["seen"]


def test_doctor_in_a_folder_below_one(run, closed):
    done = run("sh", "-c", _INSIDE, closed, *PYHARNESS, "doctor", "--json")
    findings = json.loads(done.stdout)["findings"]
    assert not [one for one in findings if "PermissionError" in one["seen"]]


def test_a_project_that_is_closed(run, closed):
    closed.chmod(0o400)
    done = run(*PYHARNESS, "doctor", "--project", closed)
    assert done.returncode == 2
    assert f"{closed} cannot be entered: no permission." in done.stderr


@pytest.mark.parametrize("verb", ["step", "run", "debug"])
def test_a_program_in_one_is_one_sentence(run, closed, verb):
    closed.chmod(0)
    done = run(*PYHARNESS, verb, closed / "in/train.py")
    assert done.returncode == 2
    assert f"{closed}/in/train.py cannot be read: no permission." in done.stderr


def test_init_below_one(run, closed):
    done = run("sh", "-c", _INSIDE, closed, *PYHARNESS, "init")
    assert done.returncode == 1
    assert "cannot be read" in done.stderr
