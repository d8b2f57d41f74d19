"""Follows the tests of this process: says what it is at, for how long that may take, and writes down what is done."""

from __future__ import annotations

import os
from dataclasses import replace
from os import getpid
from typing import TYPE_CHECKING, Any

import pytest

from pyharness.model.errors import HarnessError
from pyharness.protocol.aftermath import NOTHING, Now
from pyharness.pytest_plugin.checks import MARK, checked, seconds_of, wrongly_asked
from pyharness.pytest_plugin.files import TOLD_AGAIN
from pyharness.pytest_plugin.guard import Guard, note

if TYPE_CHECKING:
    from collections.abc import Generator

    from pyharness.debuggee.entries.reported import Reporter
    from pyharness.pytest_plugin.files import Journal, NowFile
    from pyharness.pytest_plugin.reports import Reports

_SAYS = Guard("say which test runs; where it crashes, no other runs behind it")
_WRITES = Guard("write down that a test is done; behind a crash it runs again")


class Watching:
    """Plugin of a process that runs tests."""

    def __init__(
        self,
        config: pytest.Config,
        reporter: Reporter,
        now: NowFile,
        journal: Journal | None,
        seconds: float,
        alone: str,
        reports: Reports,
    ) -> None:
        self._config = config
        self._reporter = reporter
        self._owner = getpid()
        self._now = now
        self._journal = journal
        self._seconds = seconds
        self._alone = alone
        self._current = NOTHING
        self._limit = 0.0
        self._spans = 0
        self._looks = False
        self._reports = reports

    @pytest.hookimpl(tryfirst=True)
    def pytest_configure(self, config: pytest.Config) -> None:
        """Have ``--pdb`` and ``breakpoint()`` open the prompt of both languages, unless another one is named."""
        if hasattr(config.option, "usepdb_cls") and not config.option.usepdb_cls and _has_terminal():
            config.option.usepdb_cls = ("pyharness", "Pdb")

    def pytest_report_header(self) -> str:
        """Say what is on, and what is not."""
        limit = f", {self._seconds:g} s a test" if self._seconds else ""
        if self._alone:
            limit = "; no test has a limit of time" if limit else ""
            return f"pyharness: crashes are reported and end the tests: {self._alone}{limit}"
        return f"pyharness: crashes and hangs are failed tests{limit}"

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        """Be at the test while it is set up, called and torn down."""
        self._limit = seconds_of(item.get_closest_marker(MARK), self._seconds)
        self._is_at(Now("test", item.nodeid, "setup", self._limit, self._span()))
        try:
            return (yield)
        finally:
            self._is_at(NOTHING)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Fail where the marker asks for what there is not."""
        if (marker := item.get_closest_marker(MARK)) and (wrong := wrongly_asked(marker)):
            pytest.fail(wrong, pytrace=False)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, object, object]:
        """Be at the test itself, and look for what it asks."""
        self._comes_to("call")
        self._reporter.follow_threads()
        marker = item.get_closest_marker(MARK)
        return (yield) if marker is None else (yield from checked(item, marker))

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_teardown(self) -> None:
        """Be at what is behind it."""
        self._comes_to("teardown")

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

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> Generator[None, object, object]:
        """Add what is known of processes that the test has started, and write down what others make of the report."""
        is_theirs = report.nodeid == self._current.name and getpid() == self._owner
        if not is_theirs or TOLD_AGAIN in vars(report):
            return (yield)
        if report.failed:
            with Guard("look for reports of a test's processes"):
                from pyharness.pytest_plugin.shown import section_of

                report.sections += map(section_of, self._reports.new(report.nodeid, but=self._owner))
        try:
            return (yield)
        finally:
            if self._journal:
                with _WRITES:
                    self._write(self._journal, report)

    def pytest_enter_pdb(self) -> None:
        """A person looks: that takes as long as it takes."""
        self._is_at(replace(self._now.said(), limit=0.0))

    def pytest_leave_pdb(self) -> None:
        """The test goes on, with all of its time."""
        self._is_at(replace(self._now.said(), limit=self._limit, number=self._span()))

    def _is_at(self, now: Now) -> None:
        self._current = now
        if getpid() != self._owner:  # a child of the test, which goes through pytest's own ways
            return
        with _SAYS:
            self._now.say(now)
        if now.limit and self._alone:
            note(f"no test had a limit of time: {self._alone}")
        elif now.limit and not self._looks:
            self._looks = True
            with Guard("watch for tests that take too long"):
                self._reporter.watch("deadlines")

    def _comes_to(self, phase: str) -> None:
        if self._current.doing and getpid() == self._owner:
            with _SAYS:
                self._now.come_to(phase)

    def _span(self) -> int:
        self._spans += 1
        return self._spans

    def _write(self, journal: Journal, report: Any) -> None:
        """Write a report as pytest itself hands it from one process to the other; short where nothing is in it."""
        is_short = type(report) is pytest.TestReport and report.passed  # subtests have a class of their own
        if is_short and not (report.sections or report.user_properties or "wasxfail" in vars(report)):
            journal.write_passed(
                report.nodeid, report.location, report.when, report.start, report.stop, report.duration
            )
        else:
            journal.write(self._config.hook.pytest_report_to_serializable(config=self._config, report=report))


def _has_terminal() -> bool:
    """Whether a prompt can be opened: else pdb reads from what pytest was given, as ever."""
    try:
        os.close(os.open(os.ctermid(), os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC))
    except OSError:  # there is none, as in CI: nothing more is imported to find out
        return False
    from pyharness.debuggee.in_place.terminal import OwnTerminal

    try:
        OwnTerminal().close()
    except (HarnessError, OSError):
        return False
    return True
