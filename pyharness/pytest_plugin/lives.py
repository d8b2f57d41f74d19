"""The processes of one run that tests have ended, as the one that waits for them knows them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyharness.model.text.visible import say
from pyharness.pytest_plugin.files import Died
from pyharness.pytest_plugin.supervisor import Ended

if TYPE_CHECKING:
    from pyharness.pytest_plugin.files import Journal, NowFile
    from pyharness.pytest_plugin.reports import Reports

_MANY_IMPORTS = 100
"""Files that may end a process as they are imported: their names may be others in each."""


class Lives:
    """Kept in memory, which each process inherits that goes on: no disk is in between, and nothing that a test does."""

    def __init__(self, journal: Journal, now: NowFile, reports: Reports) -> None:
        self.journal = journal
        self.reports = reports
        self.deaths: list[Died] = []
        self.now = now

    def goes_on(self, pid: int, code: int) -> bool:
        """Whether a test, or the import of a file of tests, has ended the process; then that is known."""
        now = self.now.said()
        if not now.doing or len(self.at_import) >= _MANY_IMPORTS:
            if code < 0:
                self._tell(pid, code)
            return False
        self.deaths.append(Died(pid, code, now, len(self.journal.read())))
        self.now.say()
        return True

    @property
    def at_import(self) -> dict[str, Ended]:
        """The processes that ended as they imported a file of tests, by that."""
        return {died.now.name: Ended(died.pid, died.code) for died in self.deaths if died.now.doing == "collection"}

    def _tell(self, pid: int, code: int) -> None:
        """What ended it outside of tests, on the stderr that nobody captures."""
        from pyharness.pytest_plugin.shown import death_of

        found = self.reports.of_process("pytest", pid)
        said = death_of(found, Ended(pid, code), "pytest").reprcrash.message
        where = f"; the reports are in {self.reports.folder}" if found else ""
        say(f"outside of a test, pytest (process {pid}) {said}{where}")
