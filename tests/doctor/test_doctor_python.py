"""Interpreters that lack something, debugpy and torch that are missing, too old or broken, core files."""

import json
import os
import resource
import sys

import pytest

from pyharness.doctor import interpreter, torch
from pyharness.doctor.system import core_dumps
from pyharness.doctor.system.core_dumps import where_to

VERSIONED = "Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
NEW = {"implementation": "CPython", "version": "3.12.1", "executable": "/python", "gil": True, "debug": False}


def install(folder, name, version, text=""):
    """A package as an installer leaves it."""
    (folder / name).mkdir(parents=True)
    (folder / name / "__init__.py").write_text(text)
    tell(folder, name, version)


def tell(folder, name, version):
    """The note of a package that an installer leaves."""
    card = folder / f"{name}-{version}.dist-info" / "METADATA"
    card.parent.mkdir()
    card.write_text(VERSIONED.format(name=name, version=version))


def test_this_interpreter(examined):
    found = examined(interpreter.version)["python"]
    assert found.state == "ok"
    assert sys.executable in found.seen
    assert examined(interpreter.symbols)["python-symbols"].state == "ok"
    assert examined(interpreter.debugpy)["debugpy"].state == "ok"
    assert examined(interpreter.harness)["harness"].state == "ok"


@pytest.mark.parametrize("python", ["/bin/false", "/nonexistent/python"])
def test_what_is_no_interpreter(examined, python):
    found = examined(interpreter.version, python=python)["python"]
    assert found.state == "problem"
    assert python in found.seen
    assert "--python" in found.remedy
    assert examined(interpreter.build, python=python)["python-build"].state == "not applicable"


def test_one_without_packages(examined, executable, tmp_path):
    bare = str(executable("python", f'exec {sys.executable} -S "$@"'))
    found = examined(interpreter.debugpy, python=bare, project=tmp_path)["debugpy"]
    assert (found.state, "brings its own" in found.seen) == ("not applicable", True)
    there = examined(interpreter.harness, python=bare, project=tmp_path)["harness"]
    assert (there.state, "need not be" in there.seen) == ("not applicable", True)
    missing = examined(torch.version, python=bare, project=tmp_path)["torch"]
    assert (missing.state, f"torch is not installed in {bare}" in missing.seen) == ("not applicable", True)
    assert "--python" in missing.remedy
    assert examined(torch.symbols, python=bare, project=tmp_path)["torch-symbols"].state == "not applicable"
    assert examined(torch.own_extension, python=bare, project=tmp_path)["harness-extension"].state == "not applicable"


@pytest.mark.parametrize(
    ("version", "state"),
    [("3.8.18", "problem"), ("3.9.18", "problem"), ("3.14.10", "ok"), ("3.15.2", "ok"), ("3.16.0", "problem")],
)
def test_versions_of_python(examined, executable, version, state):
    """CPython 3.14 was not tested, but its stacks are read; nobody says otherwise."""
    said = f"pyharness-doctor: {json.dumps(NEW | {'version': version})}"
    python = str(executable("python", f"echo '{said}'"))
    found = examined(interpreter.version, python=python)["python"]
    assert (found.state, version in found.seen) == (state, True)


def test_an_older_torch_is_said_to_work_as_far_as_it_does():
    assert "tensors work" in torch.works_untested((2, 8, 0))
    assert "may be wrong" in torch.works_untested((2, 99, 0))


@pytest.mark.parametrize(("version", "state"), [("1.6.7", "problem"), ("1.8.20", "ok"), ("2.0", "warning")])
def test_versions_of_debugpy(examined, monkeypatch, tmp_path, version, state):
    install(tmp_path, "debugpy", version)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    found = examined(interpreter.debugpy)["debugpy"]
    assert (found.state, version in found.seen) == (state, True)


def test_another_projects_package_of_our_name(examined, monkeypatch, tmp_path):
    """On PyPI pyharness is not ours, and both have files in one folder."""
    tell(tmp_path, "pyharness", "0.1.2")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    found = examined(interpreter.harness)["harness"]
    assert (found.state, "pyharness 0.1.2" in found.seen) == ("warning", True)
    assert "pip uninstall pyharness" in found.remedy
    assert "pyharness-debugger" in found.remedy


def test_a_torch_that_lacks_a_module_is_there(examined, monkeypatch, tmp_path):
    install(tmp_path, "torch", "2.13.0", "import not_there\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    found = examined(torch.version)["torch"]
    assert (found.state, "No module named 'not_there'" in found.seen) == ("problem", True)


def test_a_torch_that_does_not_load(examined, monkeypatch, tmp_path):
    install(tmp_path, "torch", "2.13.0", "import ctypes\nctypes.CDLL('libcudart.so.nothere')\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    found = examined(torch.version)["torch"]
    assert found.state == "problem"
    assert "libcudart.so.nothere" in found.seen


def test_an_interpreter_whose_state_cannot_be_found():
    found = interpreter.runtime_symbol("/bin/true")
    assert (found.state, "_PyRuntime" in found.seen) == ("problem", True)


class Answering:
    """A machine whose interpreter gives an answer that none here would."""

    def __init__(self, **said):
        self.python = {**NEW, **said}


@pytest.mark.parametrize(
    ("said", "state"),
    [
        ({"implementation": "PyPy"}, "problem"),
        ({"version": "3.9.18"}, "problem"),
        ({"version": "3.99.0"}, "problem"),
        ({}, "ok"),
    ],
)
def test_interpreters_that_are_not_here(said, state):
    assert [one.state for one in interpreter.version(Answering(**said))] == [state]


@pytest.mark.parametrize(("number", "half"), [("3.13.5", "can be read"), ("3.14.2", "is missing")])
def test_stacks_of_a_free_threaded_build_are_read_where_it_was_measured(number, half):
    (found,) = interpreter.build(Answering(version=number, gil=False))
    assert found.state == "problem"
    assert half in found.seen


@pytest.mark.parametrize(("said", "state"), [({"gil": False}, "problem"), ({"debug": True}, "warning"), ({}, "ok")])
def test_builds_that_are_not_here(said, state):
    assert [one.state for one in interpreter.build(Answering(**said))] == [state]


def test_the_limit_of_core_files(examined):
    soft, hard = resource.getrlimit(resource.RLIMIT_CORE)
    try:
        for limit, part in ((0, "leaves no core file"), (4096, "is cut at 4,096 bytes")):
            resource.setrlimit(resource.RLIMIT_CORE, (limit, hard))
            found = examined(core_dumps.limit)["core-limit"]
            assert (found.state, part in found.seen) == ("warning", True)
        if hard == resource.RLIM_INFINITY:
            resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))
            assert examined(core_dumps.limit)["core-limit"].state == "ok"
    finally:
        resource.setrlimit(resource.RLIMIT_CORE, (soft, hard))


@pytest.mark.parametrize(
    ("pattern", "container", "state", "part"),
    [
        ("core", True, "ok", "current folder"),
        ("/usr/core.%p", False, "ok" if os.access("/usr", os.W_OK) else "warning", "/usr"),
        ("/nonexistent/core", False, "warning", "is not there"),
        ("|/usr/lib/systemd/systemd-coredump %P", False, "ok", "coredumpctl"),
        ("|/usr/lib/systemd/systemd-coredump %P", True, "warning", "host"),
        ("|/usr/share/apport/apport %p", False, "warning", "'apport'"),
        ("|", False, "warning", "may drop them"),
    ],
)
def test_where_core_files_go(pattern, container, state, part):
    found = where_to(pattern, container=container)
    assert (found.state, part in found.seen) == (state, True)
    assert found.remedy or state == "ok"
