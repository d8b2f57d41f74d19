"""What the adapter's tests share: adapters with clients, and programs to debug."""

import os
from pathlib import Path

import pytest
from adapters import Adapters
from debugging import crossing_build

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def crossing():
    """The folder of the test extension."""
    return str(crossing_build.folder())


@pytest.fixture
def dap(tmp_path, crossing, monkeypatch):
    """Adapters to talk to; afterwards no breach of the protocol and no process is left."""
    path = os.pathsep.join(filter(None, [str(ROOT), crossing, os.environ.get("PYTHONPATH", "")]))
    monkeypatch.setenv("PYTHONPATH", path)
    adapters = Adapters(tmp_path)
    yield adapters
    left = adapters.close()
    faults = [fault for client in adapters.clients for fault in client.faults]
    assert not faults, "\n".join(faults)
    assert not left, f"left behind: {left}"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item):
    report = yield
    adapters = item.funcargs.get("dap") if hasattr(item, "funcargs") else None
    if report.failed and adapters is not None:
        report.sections.append(("the conversation", adapters.story()))
    return report
