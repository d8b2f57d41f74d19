"""Leaves out a file whose import has ended a process of this run: it is an error of collection."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pyharness.pytest_plugin.reports import of_process
from pyharness.pytest_plugin.shown import death_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyharness.pytest_plugin.supervisor import Ended


class NotAgain:
    """Plugin of a process behind others; ``ended``: which file each of these imported at its end."""

    def __init__(self, ended: Mapping[str, Ended], folder: str) -> None:
        self._ended = ended
        self._folder = folder

    @pytest.hookimpl(tryfirst=True)
    def pytest_make_collect_report(self, collector: pytest.Collector) -> pytest.CollectReport | None:
        """Give the error in place of the import."""
        name = collector.nodeid
        ended = self._ended.get(name)
        if ended is None:
            return None
        found = of_process(self._folder, name, ended.pid)
        shown = death_of(found, ended, name)
        return pytest.CollectReport(name, "failed", shown if ended.code is not None else str(shown), [])
