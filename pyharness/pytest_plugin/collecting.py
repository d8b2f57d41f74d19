"""Leaves out a file whose import has ended a process of this run, which is an error of collection, and such tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pyharness.pytest_plugin.shown import death_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyharness.pytest_plugin.reports import Reports
    from pyharness.pytest_plugin.supervisor import Ended


class NotAgain:
    """Plugin of a process behind others.

    ``ended``: which file each of these imported at its end. ``tests``: which test it ran, where another process tells
    of that, and xdist hands it out again.
    """

    def __init__(self, ended: Mapping[str, Ended], reports: Reports, tests: Mapping[str, Ended] | None = None) -> None:
        self._ended = dict(ended)
        self._reports = reports
        self._tests = tests or {}

    @pytest.hookimpl(tryfirst=True)
    def pytest_make_collect_report(self, collector: pytest.Collector) -> pytest.CollectReport | None:
        """Give the error in place of the import."""
        return self._report(collector.nodeid) if collector.nodeid in self._ended else None

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> bool | None:
        """Be done with such a test."""
        return True if item.nodeid in self._tests else None

    def untold(self) -> list[pytest.CollectReport]:
        """The errors of files that nobody has collected here."""
        return [self._report(name) for name in tuple(self._ended)]

    def _report(self, name: str) -> pytest.CollectReport:
        ended = self._ended.pop(name)
        shown = death_of(self._reports.of_process(name, ended.pid), ended, name)
        return pytest.CollectReport(name, "failed", shown if ended.code is not None else str(shown), [])
