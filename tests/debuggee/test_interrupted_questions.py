"""Ctrl-C that comes to the program while it answers a question of the debugger's: the program gets it."""

import pytest

from pyharness.debuggee.pydevd.stops import interrupted_waits


class Stops:
    """Stands as pydevd's debugger does, whose loop drops what a question raises; ``within`` is asked meanwhile."""

    def __init__(self):
        self.within = lambda: None

    def _do_wait_suspend(self):
        self.within()
        return "went on"


@pytest.fixture
def stops(monkeypatch):
    monkeypatch.setattr(interrupted_waits, "MONITORING", True)  # no thread is to be traced again
    found = Stops()
    interrupted_waits.watch(found)
    return found


def test_what_is_kept_is_raised_when_the_thread_goes_on(stops):
    stops.within = lambda: interrupted_waits.keep(KeyboardInterrupt("first"))
    with pytest.raises(KeyboardInterrupt, match="first"):
        stops._do_wait_suspend()
    stops.within = lambda: None
    assert stops._do_wait_suspend() == "went on"


def test_a_stop_within_a_stop_has_its_own(stops):
    def inner():
        stops.within = lambda: interrupted_waits.keep(KeyboardInterrupt("inner"))
        with pytest.raises(KeyboardInterrupt, match="inner"):
            stops._do_wait_suspend()

    stops.within = inner
    assert stops._do_wait_suspend() == "went on"


def test_a_thread_that_runs_keeps_nothing():
    assert not interrupted_waits.keep(KeyboardInterrupt())
