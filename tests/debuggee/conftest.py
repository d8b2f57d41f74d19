"""What the tests of the program's side share: the ends of the harness's own folders on the path."""

import os
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "tests/ingdb"), str(ROOT / "tests/programs")]


@pytest.fixture(scope="session", autouse=True)
def one_thread():
    os.environ.setdefault("OMP_NUM_THREADS", "1")
