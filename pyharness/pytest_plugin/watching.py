"""Follows the tests of this process: says what it is at, for how long that may take, and writes down what is done."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from pyharness.protocol.aftermath import NOTHING, Now
from pyharness.pytest_plugin.checks import checked, seconds_of
from pyharness.pytest_plugin.files import TOLD_AGAIN
from pyharness.pytest_plugin.reports import Reports

if TYPE_CHECKING:
    from collections.abc import Generator

    from pyharness.debuggee.entries.reported import Reporter
    from pyharness.pytest_plugin.files import Journal, NowFile


class Watching:
    """Plugin of a process that runs tests."""

    def __init__(
        self, config: pytest.Config, reporter: Reporter, now: NowFile, journal: Journal, seconds: float, alone: str
    ) -> None:
        self._config = config
        self._reporter = reporter
        self._owner = os.getpid()
        self._now = now
        self._journal = journal
        self._seconds = seconds
        self._alone = alone
        self._current = NOTHING
        self._limit = 0.0
        self._looks = False
        self._reports = Reports(reporter.folder)

    @pytest.hookimpl(tryfirst=True)
    def pytest_configure(self, config: pytest.Config) -> None:
        """Have ``--pdb`` and ``breakpoint()`` open the prompt of both languages, unless another one is named."""
        if hasattr(config.option, "usepdb_cls") and not config.option.usepdb_cls:
            config.option.usepdb_cls = ("pyharness", "Pdb")

    def pytest_report_header(self) -> str:
        """Say what is on, and what is not."""
        limit = f", {self._seconds:g} s a test" if self._seconds else ""
        if self._alone:
            return f"pyharness: crashes are reported and end the tests: {self._alone}{limit}"
        return f"pyharness: crashes and hangs are failed tests{limit}"

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        """Be at the test while it is set up, called and torn down."""
        self._limit = seconds_of(item, self._seconds)
        self._is_at(Now("test", item.nodeid, "setup", self._until(self._limit)))
        try:
            return (yield)
        finally:
            self._is_at(NOTHING)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, object, object]:
        """Be at the test itself, and look for what it asks."""
        self._is_at(replace(self._current, phase="call"))
        return (yield from checked(item))

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_teardown(self) -> None:
        """Be at what is behind it."""
        self._is_at(replace(self._current, phase="teardown"))

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_make_collect_report(self, collector: pytest.Collector) -> Generator[None, object, object]:
        """Be at the file that is imported."""
        if not isinstance(collector, pytest.File):
            return (yield)
        self._is_at(Now("collection", collector.nodeid))
        try:
            return (yield)
        finally:
            self._is_at(NOTHING)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add what is known of processes that the test has started, and write the report down."""
        is_theirs = report.nodeid == self._current.name and os.getpid() == self._owner
        if not is_theirs or hasattr(report, TOLD_AGAIN):
            return
        if report.failed:
            from pyharness.pytest_plugin.shown import section_of

            report.sections += map(section_of, self._reports.new(report.nodeid, but=self._owner))
        self._journal.write("report", self._serialized(report))

    def pytest_enter_pdb(self) -> None:
        """A person looks: that takes as long as it takes."""
        self._now.say(replace(self._current, until=0.0))

    def pytest_leave_pdb(self) -> None:
        """The test goes on, with all of its time."""
        self._is_at(replace(self._current, until=self._until(self._limit)))

    def _is_at(self, now: Now) -> None:
        self._current = now
        if now.until and not self._looks and not self._alone:
            self._looks = True
            self._reporter.watch("deadlines")
        self._now.say(now)

    @staticmethod
    def _until(seconds: float) -> float:
        return time.monotonic() + seconds if seconds > 0 else 0.0

    def _serialized(self, report: pytest.TestReport) -> Any:
        """A report as pytest itself hands it from one process to the other; short where nothing is in it."""
        if report.passed and not (report.sections or report.user_properties or hasattr(report, "wasxfail")):
            return [report.nodeid, list(report.location), report.when, report.start, report.stop, report.duration]
        return self._config.hook.pytest_report_to_serializable(config=self._config, report=report)
