"""The files that take the most processor time, with that of the programs they start: ``--costs N`` names N of them.

Seconds on the clock tell little of tests that share two cores. A program that nobody waited for is not counted, and
what a fixture of the session takes is counted for the test that asks for it first.
"""

from __future__ import annotations

import resource
from collections import Counter

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Count where somebody asks."""
    parser.addoption("--costs", type=int, default=0, metavar="N", help="processor time of the N files that take most")


def pytest_configure(config: pytest.Config) -> None:
    """Begin to count."""
    if config.option.costs:
        config.pluginmanager.register(Costs(config.option.costs), "costs")


class Costs:
    """Seconds of this process and of its children, by file."""

    def __init__(self, shown: int) -> None:
        self.shown = shown
        self.of: Counter[str] = Counter()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item):
        """Count one test, with the fixtures that are made and taken down for it."""
        before = seconds()
        try:
            return (yield)
        finally:
            self.of[item.nodeid.partition("::")[0]] += seconds() - before

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Tell the first test process."""
        if hasattr(session.config, "workeroutput"):
            session.config.workeroutput["costs"] = dict(self.of)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node, error: object) -> None:
        """Hear from another one."""
        del error
        self.of.update(getattr(node, "workeroutput", {}).get("costs", {}))

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Say it."""
        terminalreporter.write_line(f"{sum(self.of.values()):.0f} s of processor time, of which")
        for name, cost in self.of.most_common(self.shown):
            terminalreporter.write_line(f"{cost:7.1f} {name}")


def seconds() -> float:
    """Processor time until now."""
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in used)
