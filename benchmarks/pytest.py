"""What the plugin costs a suite in which nothing crashes: 500 tests that do nothing, without and with it.

The peer is pytest-xdist with one worker: what else there is that survives a crash.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

from benchmarks.table import Check, Table, interleave, rows_of

RUNS = 11
TESTS = 500
BARE, OURS, TIMED, XDIST = "pytest", "--pyharness", "--pyharness --pyharness-timeout=60", "-n 1 (pytest-xdist)"
OPTIONS = {BARE: (), OURS: ("--pyharness",), TIMED: ("--pyharness", "--pyharness-timeout=60"), XDIST: ("-n", "1")}
MORE, ONCE = 1.01, 0.1
"""What it may cost: times the suite, and seconds beside."""
_NOT_A_USERS = ("PYTEST_", "PYTHONDONTWRITEBYTECODE")
"""What a benchmark may be started with: without bytecode all plugins are compiled anew in each run."""
SUITE = f"""
import pytest

@pytest.mark.parametrize("number", range({TESTS}))
def test_nothing(number):
    assert number >= 0
"""


def run(runs: int = RUNS) -> Table:
    """Run the suite under each, in turns."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "test_nothing.py").write_text(SUITE, encoding="utf-8")
        seconds = interleave({name: partial(_suite, folder, words) for name, words in OPTIONS.items()}, runs)
    checks = tuple(
        Check(f"{name}: seconds over {MORE} times {BARE}", _over(seconds[name], seconds[BARE]), ONCE)
        for name in (OURS, TIMED)
    )
    return Table("pytest", rows_of(f"{TESTS} tests", seconds), checks)


def _over(ours: list[float], bare: list[float]) -> float:
    return statistics.median(mine - MORE * theirs for mine, theirs in zip(ours, bare, strict=True))


def _suite(folder: str, options: tuple[str, ...]) -> None:
    words = [sys.executable, "-m", "pytest", "-q", *options, "test_nothing.py"]
    environment = {name: value for name, value in os.environ.items() if not name.startswith(_NOT_A_USERS)}
    subprocess.run(words, cwd=folder, env=environment, check=True, stdout=subprocess.DEVNULL)
