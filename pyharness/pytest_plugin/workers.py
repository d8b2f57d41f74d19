"""The process that tells of tests: of pytest-xdist's workers, too, whom it tells where to write before they die."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest

from pyharness.pytest_plugin.guard import Guard

if TYPE_CHECKING:
    from pyharness.pytest_plugin.reports import Reports

_HANDED_OUT_AGAIN = ("loadfile", "loadscope", "loadgroup")
"""How xdist distributes tests where it gives a group to the next worker, with the test that has ended the last one."""
_MANY = 1_000
INPUT = "pyharness"
"""The key of what a worker is told."""


class Workers:
    """Plugin of the process that has workers, or has none."""

    def __init__(self, folder: str, reports: Reports, seconds: float) -> None:
        self._told = {"folder": folder, "reports": reports.folder, "before": reports.before, "seconds": seconds}
        self._reports = reports

    @pytest.hookimpl(tryfirst=True)
    def pytest_configure(self, config: pytest.Config) -> None:
        """Have each worker replaced that dies: xdist itself gives up at four times their number."""
        if getattr(config.option, "maxworkerrestart", "") is None:
            config.option.maxworkerrestart = str(_MANY)
        self._told["again"] = getattr(config.option, "dist", "") in _HANDED_OUT_AGAIN

    @staticmethod
    def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
        """Say what of ours has failed; annotate the lines where tests ended their processes, on GitHub."""
        with Guard("annotate the lines"):
            if os.environ.get("GITHUB_ACTIONS") == "true":
                from pyharness.pytest_plugin.github import annotation_lines

                for line in annotation_lines(terminalreporter):
                    terminalreporter.write_line(line)
        for note in Guard.notes:
            terminalreporter.write_line(note)

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Tell a worker."""
        node.workerinput[INPUT] = self._told

    @pytest.hookimpl(optionalhook=True, tryfirst=True)
    def pytest_handlecrashitem(self, crashitem: str, report: pytest.TestReport) -> None:
        """Put what the worker wrote into the report of its crash, which is the test's own."""
        with Guard("read the report of a worker"):
            from pyharness.pytest_plugin.shown import death_of, location_of
            from pyharness.pytest_plugin.supervisor import Ended

            report.when = "call"
            report.location = location_of(crashitem)
            for found in self._reports.new(crashitem):
                report.longrepr = death_of(found, Ended(found.pid, None), crashitem)
