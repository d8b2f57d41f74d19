"""Goes on behind a process that a test has ended: what is done is told again, without a word, and the rest is run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from pyharness.protocol.codec import decode
from pyharness.pytest_plugin.files import TOLD_AGAIN, Died
from pyharness.pytest_plugin.reports import of_process
from pyharness.pytest_plugin.shown import death_of, location_of
from pyharness.pytest_plugin.supervisor import Ended

if TYPE_CHECKING:
    from pyharness.pytest_plugin.files import Journal
    from pyharness.pytest_plugin.shown import Death


class Continuing:
    """Plugin of each process behind the first."""

    def __init__(self, journal: Journal, folder: str) -> None:
        self._entries = [decode(Died, data, "a death") if kind == "death" else data for kind, data in journal.read()]
        self._folder = folder
        self._deaths = [entry for entry in self._entries if isinstance(entry, Died)]
        self._done = {name for name in map(_name_of, self._entries) if name}
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
            terminal.write_line(f"\npyharness: a fresh process goes on; the one before ended as it {what} {last.name}")

    @property
    def at_import(self) -> dict[str, Ended]:
        """The processes that ended as they imported a file of tests, by that."""
        return {died.now.name: _ended(died) for died in self._deaths if died.now.doing == "collection"}

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> None:
        """Leave what is done; one of these stays, in whose place it is told."""
        done = self._done
        if not done:
            return
        told = [item for item in session.items if item.nodeid in done]
        session.items[:] = [*told[-1:], *(item for item in session.items if item.nodeid not in done)]

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> bool | None:
        """Tell what is done in place of the first test; and run that where it is none of these."""
        if self._is_told:
            return None
        self._is_told = True
        self._tell(item)
        return True if item.nodeid in self._done else None

    @pytest.hookimpl(tryfirst=True)
    def pytest_report_teststatus(self, report: pytest.TestReport, config: pytest.Config) -> Any:
        """Count what is told again, and show nothing of it."""
        if not self._is_silent:
            return None
        self._is_silent = False
        category = config.hook.pytest_report_teststatus(report=report, config=config)[0]
        self._is_silent = True
        return category, "", ""

    def _tell(self, item: pytest.Item) -> None:
        """All reports, in their order; the last death is news, and shown."""
        config = item.config
        terminal = config.pluginmanager.get_plugin("terminalreporter")
        shown: set[Any] = getattr(terminal, "_progress_nodeids_reported", set())  # else the percentage is of the rest
        for entry in self._entries:
            if not isinstance(entry, Died):
                report = self._read(config, entry)
            elif entry.now.doing == "test":
                report = self._died(entry, item if item.nodeid == entry.now.name else None)
            else:
                continue
            vars(report)[TOLD_AGAIN] = True
            self._is_silent = entry is not self._deaths[-1]
            if not self._is_silent:
                config.hook.pytest_runtest_logstart(nodeid=report.nodeid, location=report.location)
            config.hook.pytest_runtest_logreport(report=report)
            shown.add(getattr(report, "id", report.nodeid))
        self._is_silent = False

    def _read(self, config: pytest.Config, data: Any) -> pytest.TestReport:
        if isinstance(data, dict):
            return config.hook.pytest_report_from_serializable(config=config, data=data)  # type: ignore[no-any-return]
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
        return death_of(of_process(self._folder, died.now.name, died.pid), _ended(died), died.now.name)


def _ended(died: Died) -> Ended:
    return Ended(died.pid, died.code)


def _name_of(entry: Any) -> str:
    """The test that an entry of the journal is about, a death or a report; empty for none."""
    if isinstance(entry, Died):
        return entry.now.name if entry.now.doing == "test" else ""
    return str(entry["nodeid"] if isinstance(entry, dict) else entry[0])
