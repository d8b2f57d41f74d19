"""What the tests of the program's side share: the ends of the harness's own folders on the path."""

import os

import pytest


@pytest.fixture(scope="session", autouse=True)
def one_thread():
    os.environ.setdefault("OMP_NUM_THREADS", "1")
