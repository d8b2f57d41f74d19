"""What every test gets: a private state folder, signals as in a terminal, no core dumps of programs that crash."""

from __future__ import annotations

import contextlib
import gc
import os
import resource
import signal
import sys

import pytest
from hypothesis import HealthCheck, settings

from kit import builds, needs, paths
from kit.command import Command, environment_of
from kit.containers import ledgers

pytest_plugins = ["kit.rotation", "kit.order", "kit.costs"]

# How fast a busy machine makes up an example says nothing of what is tested.
settings.register_profile("busy", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("busy")


gc.set_threshold(1_000_000)  # to import torch and to collect thousands of tests makes no garbage to speak of


def pytest_collection_finish():
    """All of it stays: no collection of a test looks at it again."""
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def no_core_dumps():
    """Programs started by tests crash on purpose, in folders that are not theirs; gdb's gcore still works."""
    _, hard = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (0, hard))


@pytest.fixture(scope="session", autouse=True)
def signals_are_heard():
    """A shell starts what it runs in the background deaf to SIGINT, nohup to SIGHUP; children inherit that."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        signal.signal(signal.SIGHUP, lambda *_: None)  # these tests go on; what they start has no handler


@pytest.fixture(scope="session", autouse=True)
def private_state(tmp_path_factory: pytest.TempPathFactory):
    """``PYHARNESS_HOME`` for this test process and all that it starts; a test may set its own."""
    before = os.environ.get("PYHARNESS_HOME")
    os.environ["PYHARNESS_HOME"] = str(tmp_path_factory.mktemp("home"))
    yield
    if before is None:
        del os.environ["PYHARNESS_HOME"]
    else:
        os.environ["PYHARNESS_HOME"] = before


@pytest.fixture(scope="session", autouse=True)
def programs_run_here():
    """Programs of tests run in this environment: in none that is activated, nor the ``.venv`` of a clone around it."""
    os.environ["VIRTUAL_ENV"] = sys.prefix
    os.environ.pop("CONDA_PREFIX", None)


@pytest.fixture(scope="session", autouse=True)
def programs_begin_fast(request):
    """Garbage is collected seldom (kit/site), numpy starts no threads. Where all variants run, it is as anybody's."""
    if request.config.pluginmanager.get_plugin("rotation").turn is None:
        yield
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(paths.SITE), prepend=os.pathsep)
        patch.setenv("OPENBLAS_NUM_THREADS", "1")  # torch imports numpy: its threads spin, and nothing here multiplies
        yield


@pytest.fixture
def environment(tmp_path):
    """The environment of the commands that a test runs: a state folder of its own."""
    return environment_of(tmp_path / "state")


@pytest.fixture
def pyharness(environment, tmp_path):
    """Run ``pyharness ...``; the completed process, with text output."""
    with contextlib.closing(Command(environment, tmp_path)) as command:
        yield command


@pytest.fixture(scope="session")
def crossing():
    """The folder of the test extension."""
    return str(builds.crossing())


@pytest.fixture
def powerless():
    """Words that run a command without the right to trace what refuses to be traced."""
    return needs.powerless("sys_ptrace", "root may trace everything")


@pytest.fixture
def contained(tmp_path):
    """Start tests/programs/ledger.py in a container (``kit.containers``)."""
    with ledgers(tmp_path) as start:
        yield start
