"""Variants that run in turn: of each behaviour a share now, another each half day, and all of them with TURN=all.

``@pytest.mark.rotated`` says that the cases of a parametrised test show one behaviour: a share of them runs, and
always one at least. ``rotated(by="python")`` chooses by that argument alone: a fixture that is made for it is made in
its turn only. ``rotated(turns=6)`` gives each case every sixth turn. ``rotated_tests(turns=3)`` is for a file whose
tests take long: a third of them runs in CI (PYHARNESS_DOUBLE=1) and half as many by hand, and of these the cases whose
turn it is; those with one ``number=`` run together. What is marked ``always`` runs in each turn. Each file begins at a
turn of its own: else one turn had the first cases of all. A test or a case runs, too, whenever the command line names
it: by its node id, -k or --last-failed.
"""

from __future__ import annotations

import os
import time
import zlib
from collections.abc import Iterable
from pathlib import Path

import pytest

TURNS = 10
"""In so many turns, each variant has had its own."""
SECONDS_OF_A_TURN = 43200
SPREAD = 2
"""By hand, a test of a file that takes long has a turn so many times as seldom as in CI: 7 minutes on two cores."""
_MARKS = ("rotated", "rotated_tests")
always = pytest.mark.always


def turn_of(asked: str, now: float) -> int | None:
    """Which share runs; ``None`` for all."""
    if asked == "all":
        return None
    return int(asked) if asked else int(now // SECONDS_OF_A_TURN)


def spread_of(asked: str) -> int:
    """How many times as seldom as in CI the tests of a file have their turns: ``asked`` is $PYHARNESS_DOUBLE."""
    return 1 if asked == "1" else SPREAD


def phase_of(file: Path) -> int:
    """How many turns a file is ahead of the number of the turn; the same on every machine."""
    return zlib.crc32(file.name.encode())


class Rotation:
    """What runs in this turn. It is the same in all test processes, though a turn may end between their starts."""

    def __init__(self, turn: int | None, spread: int) -> None:
        self.turn = turn
        self.spread = spread
        self.left = self.variants = 0

    @pytest.hookimpl(trylast=True)  # of the tests that -k and --last-failed leave
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Leave out the variants of other turns."""
        functions = [item for item in items if isinstance(item, pytest.Function)]
        rotated = [item for item in functions if any(item.get_closest_marker(name) for name in _MARKS)]
        self.variants = len(rotated)
        if self.turn is None or config.option.keyword or config.getoption("lf", default=False):
            return
        named = [word for word in config.args if "::" in word]
        left = {item for item in not_now(rotated, self.turn, self.spread) if not is_named(item, named)}
        self.left = len(left)
        if left:
            config.hook.pytest_deselected(items=list(left))
            items[:] = [item for item in items if item not in left]

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Tell the first test process what a second one has left out."""
        told = getattr(session.config, "workeroutput", {})
        told["rotation"] = (self.variants, self.left)

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node) -> None:
        """Tell a second test process, which is about to start, which turn it is."""
        node.workerinput["turn"] = self.turn

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node, error: object) -> None:
        """Hear from it."""
        del error
        self.variants, self.left = getattr(node, "workeroutput", {}).get("rotation", (self.variants, self.left))

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Say what is left."""
        if self.left:
            double = "PYHARNESS_DOUBLE=1 " if self.spread == 1 else ""
            again = f"{double}PYHARNESS_TURN={self.turn} runs the same again"
            terminalreporter.write_line(
                f"{self.left} tests of {self.variants} left to make test-all, or to another turn ({again})"
            )


def pytest_configure(config: pytest.Config) -> None:
    """Begin a turn, or take part in one."""
    config.addinivalue_line("markers", "rotated(by, turns): its cases run in turn (tests/kit/rotation.py)")
    config.addinivalue_line("markers", "rotated_tests(turns, number): the tests of a file run in turn")
    config.addinivalue_line("markers", "always: what runs in every turn")
    told: dict[str, int | None] = getattr(config, "workerinput", {})
    turn = told["turn"] if told else turn_of(os.environ.get("PYHARNESS_TURN", ""), time.time())
    spread = spread_of(os.environ.get("PYHARNESS_DOUBLE", ""))
    config.pluginmanager.register(Rotation(turn, spread), "rotation")


def not_now(items: Iterable[pytest.Function], turn: int, spread: int) -> set[pytest.Function]:
    """The tests and the variants whose turn this is not."""
    found: set[pytest.Function] = set()
    for file, tests in files(items).items():
        now = turn + phase_of(file)
        for place, group in enumerate(tests):
            mark = group[0].get_closest_marker("rotated_tests")
            period, number = of_file(mark, place, len(tests), spread) if mark else (1, 0)
            others = group if number % period != now % period else other_variants(group, now // period)
            found.update(item for item in others if item.get_closest_marker("always") is None)
    return found


def of_file(mark: pytest.Mark, number: int, count: int, spread: int) -> tuple[int, int]:
    """In how many turns a test of a file has one, and which; tests with a number of their own have theirs together."""
    turns = mark.kwargs.get("turns", TURNS)
    turns, number = (turns, mark.kwargs["number"]) if "number" in mark.kwargs else (min(turns, count), number)
    return (1 if turns == 1 else turns * spread), number


def files(items: Iterable[pytest.Function]) -> dict[Path, list[list[pytest.Function]]]:
    """The tests of each file, each with its variants."""
    found: dict[Path, dict[str, list[pytest.Function]]] = {}
    for item in items:
        found.setdefault(item.path, {}).setdefault(item.nodeid.partition("[")[0], []).append(item)
    return {file: list(tests.values()) for file, tests in found.items()}


def other_variants(group: list[pytest.Function], turn: int) -> Iterable[pytest.Function]:
    """Variants of a test whose turn this is not."""
    mark = group[0].get_closest_marker("rotated")
    if mark is None:
        return ()
    number = numbering(group, mark.kwargs.get("by"))
    period = min(mark.kwargs.get("turns", TURNS), len(set(number.values())))
    return (item for item in group if number[item] % period != turn % period)


def numbering(group: list[pytest.Function], by: str | None) -> dict[pytest.Function, int]:
    """The number of the variant that an item shows."""
    if by is None:
        return {item: number for number, item in enumerate(group)}
    return {item: item.callspec.indices[by] for item in group}


def is_named(item: pytest.Function, words: list[str]) -> bool:
    """Whether the command line names an item, or the test that it is a case of."""
    file, _, own = item.nodeid.partition("::")
    for named, _, name in (word.partition("::") for word in words):
        if Path(named).name == Path(file).name and (own == name or own.startswith((f"{name}[", f"{name}::"))):
            return True
    return False
