"""Follows the tests of this process: says what it is at, for how long that may take, and writes down what is done."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Any

import pytest

from pyharness.protocol.aftermath import NOTHING, Now
from pyharness.pytest_plugin.files import TOLD_AGAIN
from pyharness.pytest_plugin.reports import Reports

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyharness.debuggee.entries.reported import Reporter
    from pyharness.pytest_plugin.files import Journal, NowFile

MARK = "pyharness"


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
        self._looks = False
        self._reports = Reports(reporter.folder)

    def pytest_report_header(self) -> str:
        """Say what is on, and what is not."""
        limit = f", {self._seconds:g} s a test" if self._seconds else ""
        if self._alone:
            return f"pyharness: crashes are reported and end the tests: {self._alone}{limit}"
        return f"pyharness: crashes and hangs are failed tests{limit}"

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Be at the test while it is set up, called and torn down."""
        self._is_at(Now("test", item.nodeid, self._until(_seconds_of(item, self._seconds))))
        yield
        self._is_at(NOTHING)

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_make_collect_report(self, collector: pytest.Collector) -> Iterator[None]:
        """Be at the file that is imported."""
        if not isinstance(collector, pytest.File):
            yield
            return
        self._is_at(Now("collection", collector.nodeid, 0.0))
        yield
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
        self._now.say(Now(self._current.doing, self._current.name, 0.0))

    def pytest_leave_pdb(self) -> None:
        """The test goes on, with all of its time."""
        limited = self._current.until
        self._is_at(Now(self._current.doing, self._current.name, self._until(self._seconds) if limited else 0.0))

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


def _seconds_of(item: pytest.Item, otherwise: float) -> float:
    marker = item.get_closest_marker(MARK)
    return float(marker.kwargs.get("timeout", otherwise)) if marker else otherwise
