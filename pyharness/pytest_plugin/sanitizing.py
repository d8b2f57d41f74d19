"""Runs pytest under a sanitizer: it begins once more with the runtime preloaded, and hears of what that finds."""

from __future__ import annotations

import os
import re
import sys
from typing import TYPE_CHECKING, NoReturn

import pytest

from pyharness.model.errors import HarnessError
from pyharness.pytest_plugin.guard import Guard
from pyharness.pytest_plugin.shown import death_of, section_of
from pyharness.reading.sanitized.runtimes import (
    SANITIZERS,
    check_start,
    environment_for,
    is_loaded,
    keep_addresses,
    without_checks,
)

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    from pyharness.pytest_plugin.reports import Reports

_PASSED = (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)
_OF_PYTEST = re.compile(r"(^|/)(pytest|py\.test|pytest/__main__\.py)$")
"""How ``sys.argv`` begins where Python runs pytest, and no program that calls it."""


def begin_sanitized(name: str, runtime: str | None, root: Path) -> None:
    """Become the same pytest with a runtime, unless it is here; before the user's code is imported."""
    if not is_loaded(name):
        try:
            _begin_again(name, runtime, root)
        except HarnessError as error:
            raise pytest.UsageError(f"--pyharness-sanitizer: {error}") from None


def _begin_again(name: str, runtime: str | None, root: Path) -> NoReturn:
    if not _OF_PYTEST.search(sys.argv[0]):
        raise HarnessError(
            "A program has called pytest, and all that it did so far would be done twice.",
            f"Run `python -m pytest --pyharness-sanitizer {name}`, or your program by `pyharness run --{name}`.",
        )
    found = environment_for(name, runtime, str(root / "tests"), sys.path, os.environ, "--pyharness-runtime")
    keep_addresses(name)
    check_start(name, sys.executable, {**os.environ, **found})
    if name == "tsan":
        found["TSAN_OPTIONS"] += ":exitcode=0"  # pytest's own says that tests have failed
    sys.stdout.flush()
    command = [sys.executable, *sys.orig_argv[1:]]
    os.execve(sys.executable, command, {**os.environ, **found})  # noqa: S606  (a list of arguments)


class Sanitized:
    """Plugin: a test fails where the runtime in this process has found an error, though it ran on."""

    def __init__(self, reports: Reports) -> None:
        from pyharness.debuggee.entries import sanitized

        sanitized.begin()
        self._count = sanitized.count
        self._told = 0
        """Errors that reports of tests and of files have."""
        self._reports = reports

    @classmethod
    def here(cls, reports: Reports) -> Sanitized | None:
        """The plugin of this process; ``None`` where no runtime is preloaded."""
        return cls(reports) if any(map(is_loaded, SANITIZERS)) else None

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Look for errors of the phase that has ended."""
        report = yield
        self._look(report, item.nodeid)
        return report

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(
        self, collector: pytest.Collector
    ) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
        """Look for errors of a file's import."""
        report = yield
        self._look(report, collector.nodeid)
        return report

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Fail for what came outside of tests and of their files: in a conftest.py, say."""
        if self._count() > self._told and session.exitstatus in _PASSED:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Say where nothing was checked; workers of xdist have loaded what the first process has not."""
        if more := self._count() - self._told:
            terminalreporter.write_line(f"pyharness: errors that a sanitizer has found outside of tests: {more}")
        if not getattr(terminalreporter.config.option, "numprocesses", None):
            for said in filter(None, map(without_checks, filter(is_loaded, SANITIZERS))):
                terminalreporter.write_line(f"pyharness: {said}")

    def _look(self, report: pytest.TestReport | pytest.CollectReport, name: str) -> None:
        with Guard("look for what a sanitizer has found"):
            if self._count() > self._told and (errors := list(self._reports.errors(name, os.getpid()))):
                self._told += len(errors)
                if (
                    report.outcome != "failed"
                ):  # a test that is expected to fail is not expected to do this, as to crash
                    report.longrepr = death_of(errors.pop(0), None, name)
                    report.outcome = "failed"
                    vars(report).pop("wasxfail", None)
                report.sections += map(section_of, errors)
