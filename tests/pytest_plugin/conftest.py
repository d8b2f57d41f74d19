"""Suites of others, run by a pytest of their own with the plugin."""

import os
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from dataclasses import dataclass
from pathlib import Path

import pytest

from kit import builds
from kit.paths import PROGRAMS


@dataclass
class Ran:
    """What came of a suite."""

    code: int
    output: str
    junit: Path

    @property
    def outcomes(self):
        """``"passed"``, ``"failed"``, ``"error"`` or ``"skipped"`` of each test."""
        return {name: outcome for name, outcome, _message, _text in self.cases}

    @property
    def cases(self):
        """Name, outcome, message and text of each test, as JUnit's file has them."""
        for case in ET.parse(self.junit).iter("testcase"):  # noqa: S314
            told = next((each for each in case if each.tag in {"failure", "error", "skipped"}), None)
            outcome = {None: "passed", "failure": "failed"}.get(told.tag if told is not None else None)
            yield (
                case.get("name"),
                outcome or told.tag,
                told.get("message", "") if told is not None else "",
                (told.text or "") if told is not None else "",
            )

    def case(self, name):
        """Message and text of a test that did not pass."""
        return next((message, text) for known, _outcome, message, text in self.cases if known == name)


@pytest.fixture
def suite(tmp_path, monkeypatch):
    """Run pytest with the plugin on a file, given as a path of ``tests/programs`` or as text.

    ``under`` are words of a command of ours that runs pytest.
    """
    monkeypatch.setenv("FAULTS", str(builds.faults()))
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.setenv("COLUMNS", "160")
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)
    monkeypatch.delenv("PYTEST_XDIST_WORKER", raising=False)

    def run(source, *options, plugin=("--pyharness",), python=sys.executable, under=(), timeout=200):
        file = tmp_path / "test_theirs.py"
        if isinstance(source, Path) or source.endswith(".py"):
            shutil.copy(PROGRAMS / source, file)
        else:
            file.write_text(source)
        junit = tmp_path / "junit.xml"
        end_of_ours = ["--"] if under and "run" not in under else []
        start = [python, *under, "-m", "pytest", *end_of_ours]
        words = [*start, *plugin, *options, f"--junitxml={junit}", file.name]
        environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST_")}
        ended = subprocess.run(
            words, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False, timeout=timeout
        )
        return Ran(ended.returncode, ended.stdout + ended.stderr, junit)

    return run
