"""What the tests of ``pyharness mcp`` share: a server of one module's tests, and the bugs that it finds."""

from pathlib import Path

import pytest

from benchmarks.finding import tasks
from kit.builds import once
from kit.mcp_client import served
from kit.paths import BUILT


@pytest.fixture(scope="package")
def bugs() -> Path:
    """The native half of the bugs."""
    return once(BUILT / "libbugs.so", tasks.build)


@pytest.fixture(scope="module")
def server(bugs):
    """A server in the folder of the bugs."""
    with served(tasks.PROGRAMS, environment={tasks.LIBRARY: str(bugs)}) as client:
        yield client
