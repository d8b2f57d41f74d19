"""Goes on behind a process that a test has ended: what is done is told again, without a word, and the rest is run."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from pyharness.model.text.visible import visible
from pyharness.pytest_plugin.files import TOLD_AGAIN, Died
from pyharness.pytest_plugin.guard import Guard
from pyharness.pytest_plugin.shown import death_of, location_of
from pyharness.pytest_plugin.supervisor import Ended

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pyharness.pytest_plugin.collecting import NotAgain
    from pyharness.pytest_plugin.lives import Lives
    from pyharness.pytest_plugin.shown import Death

_LOST = 3
"""Tests that have ended a process and are not there in the next: their names are others in each, and that for ever."""


class Continuing:
    """Plugin of each process behind the first."""

    def __init__(self, lives: Lives, not_again: NotAgain) -> None:
        self._deaths = tuple(lives.deaths)
        self._entries: list[Any] = lives.journal.read()
        for died in reversed(self._deaths):
            self._entries.insert(died.behind, died)
        self._reports = lives.reports
        self._now = lives.now
        self._not_again = not_again
        self._done = _done(self._entries)
        self._stands_in: pytest.Item | None = None
        """In whose place what is done is told."""
        self._is_told = False
        self._is_silent = False

    @pytest.hookimpl(tryfirst=True)
    def pytest_configure(self, config: pytest.Config) -> None:
        """Do not say again what the first process has said."""
        config.option.no_header = True

    @pytest.hookimpl(trylast=True)
    def pytest_sessionstart(self, session: pytest.Session) -> None:
        """Say why there is another beginning."""
        terminal = session.config.pluginmanager.get_plugin("terminalreporter")
        if terminal is not None:
            last = self._deaths[-1].now
            what = "imported" if last.doing == "collection" else "ran"
            name = visible(last.name).replace("\n", " ")
            terminal.write_line(f"\npyharness: a fresh process goes on; the one before ended as it {what} {name}")

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> None:
        """Leave what is done; one of these stays, in whose place it is told."""
        done = self._done
        if not done:
            return
        there = {item.nodeid for item in session.items}
        lost = [died for died in self._deaths if died.now.doing == "test" and died.now.name not in there]
        if len(lost) >= _LOST:
            self._give_up(session)
            return
        left, rest = Counter(done), []
        for item in session.items:
            if left[item.nodeid]:
                left[item.nodeid] -= 1
                self._stands_in = item
            else:
                rest.append(item)
        session.items[:] = [*filter(None, [self._stands_in]), *rest]

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> bool | None:
        """Tell what is done in place of the first test; and run that where it is none of these."""
        if self._is_told:
            return None
        self._is_told = True
        self._tell(item.config, item)
        return True if item is self._stands_in else None

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Tell what is done where nothing could be told before: no test is left, or they are not collected now."""
        with Guard("tell what was done in processes before"):
            untold = self._not_again.untold()
            for report in untold:
                session.config.hook.pytest_collectreport(report=report)
            tells = bool(self._done) and not self._is_told
            if tells:
                self._is_told = True
                self._tell(session.config, None)
            if (tells or untold) and session.exitstatus in {pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED}:
                session.exitstatus = pytest.ExitCode.TESTS_FAILED

    @staticmethod
    def _give_up(session: pytest.Session) -> None:
        terminal = session.config.pluginmanager.get_plugin("terminalreporter")
        if terminal is not None:
            terminal.write_line(
                f"pyharness: no more tests are run: {_LOST} of them have ended a process, and none of these is among"
                " the tests of the next.\nGive each the same id in every process: no process id, time or folder's name."
            )
        session.items[:] = []

    @pytest.hookimpl(tryfirst=True)
    def pytest_report_teststatus(self, report: pytest.TestReport, config: pytest.Config) -> Any:
        """Count what is told again, and show nothing of it."""
        if not self._is_silent:
            return None
        self._is_silent = False
        category = config.hook.pytest_report_teststatus(report=report, config=config)[0]
        self._is_silent = True
        return category, "", ""

    def _tell(self, config: pytest.Config, item: pytest.Item | None) -> None:
        """Hand on all reports; a plugin that ends the process of one ends it outside of a test, or would in each."""
        now = self._now.said()
        self._now.say()
        self._tell_all(config, item)
        self._now.say(now)

    def _tell_all(self, config: pytest.Config, item: pytest.Item | None) -> None:
        """All reports, in their order; the last death is news, and shown."""
        terminal = config.pluginmanager.get_plugin("terminalreporter")
        shown: set[Any] = getattr(terminal, "_progress_nodeids_reported", set())  # else the percentage is of the rest
        for entry in self._entries:
            if not isinstance(entry, Died):
                report = self._read(config, entry)
            elif entry.now.doing == "test":
                report = self._died(entry, item if item and item.nodeid == entry.now.name else None)
            else:
                continue
            self._is_silent = entry is not self._deaths[-1]
            if not self._is_silent:
                config.hook.pytest_runtest_logstart(nodeid=report.nodeid, location=report.location)
            for each in (report, *_behind(report)) if isinstance(entry, Died) else (report,):
                vars(each)[TOLD_AGAIN] = True
                config.hook.pytest_runtest_logreport(report=each)
            shown.add(getattr(report, "id", report.nodeid))
        self._is_silent = False

    def _read(self, config: pytest.Config, data: Any) -> pytest.TestReport:
        if isinstance(data, dict):
            report = config.hook.pytest_report_from_serializable(config=config, data=data)
            report.location = tuple(report.location)  # JSON has lists
            if isinstance(report.longrepr, list):  # of a skipped test
                report.longrepr = tuple(report.longrepr)
            return report  # type: ignore[no-any-return]
        name, location, when, start, stop, duration = data
        return pytest.TestReport(
            name, tuple(location), {}, "passed", None, when, start=start, stop=stop, duration=duration
        )

    def _died(self, died: Died, item: pytest.Item | None) -> pytest.TestReport:
        """A failed test, at the phase that it had come to."""
        name = died.now.name
        location = item.location if item else location_of(name)
        return pytest.TestReport(
            name, location, dict(item.keywords) if item else {}, "failed", self._shown(died), died.now.phase or "call"
        )

    def _shown(self, died: Died) -> Death:
        found = self._reports.of_process(died.now.name, died.pid)
        return death_of(found, Ended(died.pid, died.code), died.now.name)


def _behind(report: pytest.TestReport) -> Iterator[pytest.TestReport]:
    """The last report of a test, for plugins that wait for it: the one that ended its process has none."""
    if report.when != "teardown":
        yield pytest.TestReport(report.nodeid, report.location, report.keywords, "passed", None, "teardown")


def _done(entries: Iterable[Any]) -> Counter[str]:
    """How often each test has come to its end, or has ended its process: one may be collected several times."""
    ends, names = Counter[str](), set()
    for entry in entries:
        name = _name_of(entry)
        names.add(name)
        ends[name] += isinstance(entry, Died) or _when(entry) == "teardown"
    return Counter({name: max(1, ends[name]) for name in names if name})


def _when(report: Any) -> str:
    return str(report["when"] if isinstance(report, dict) else report[2])


def _name_of(entry: Any) -> str:
    """The test that an entry of the journal is about, a death or a report; empty for none."""
    if isinstance(entry, Died):
        return entry.now.name if entry.now.doing == "test" else ""
    return str(entry["nodeid"] if isinstance(entry, dict) else entry[0])
