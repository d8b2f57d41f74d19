"""What the adapter's tests share: adapters with clients, and programs to debug."""

import shutil

import core_files
import pytest
from adapters import adapters_in

from kit.paths import search_path


@pytest.fixture
def dap(tmp_path, crossing, monkeypatch):
    """Adapters to talk to; afterwards no breach of the protocol and no process is left."""
    monkeypatch.setenv("PYTHONPATH", search_path(crossing))
    with adapters_in(tmp_path) as adapters:
        yield adapters


@pytest.fixture(scope="session")
def library(tmp_path_factory, crossing):
    """A folder with an extension of the core file's program, which can be taken away."""
    return shutil.copytree(crossing, tmp_path_factory.mktemp("library") / "crossing")


@pytest.fixture(scope="session")
def crash(tmp_path_factory, library):
    """The core of a crash in native code that generated code called."""
    core = core_files.of_the_crash(tmp_path_factory.mktemp("crash"), search_path(str(library)))
    yield core
    core.unlink()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item):
    report = yield
    adapters = item.funcargs.get("dap") if hasattr(item, "funcargs") else None
    if report.failed and adapters is not None:
        report.sections.append(("the conversation", adapters.story()))
    return report
