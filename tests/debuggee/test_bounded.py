"""Code of the user's under our bounds: it ends in time, and nothing of that is left when it has ended."""

import builtins
import contextlib
import os
import re
import signal
import sys
import threading
import time

import pytest

from pyharness.debuggee.bounded import Bounds

pytestmark = pytest.mark.rotated_tests(turns=2)

TRIES = 300
REPLACED = [(os, "_exit"), (os, "abort"), (os, "kill"), (os, "execv"), (signal, "raise_signal")]
REPLACED += [(sys, "stdin"), (sys, "stdout"), (sys, "stderr"), (builtins, "breakpoint")]


@pytest.fixture
def bounds():
    bounds = Bounds()
    bounds.seconds = 0.05
    return bounds


def on_another_thread(do):
    came = []
    thread = threading.Thread(target=lambda: came.append(do()))
    thread.start()
    thread.join()
    return came[0]


@pytest.mark.parametrize("on", [lambda do: do(), on_another_thread], ids=["main thread", "another"])
def test_an_end_that_comes_as_it_ends_reaches_nothing_else(bounds, on):
    def spin(seconds):
        end = time.perf_counter() + seconds
        while time.perf_counter() < end:
            pass
        return "spun"

    def tries():
        found = []
        for number in range(TRIES):
            found.append(bounds.run(lambda: spin(bounds.seconds + (number % 9 - 4) * 0.0002)))  # noqa: B023
            spin(0.0001)
        return found

    bounds.seconds = 0.01
    outcomes = on(tries)
    assert {each.value or type(each.error) for each in outcomes} <= {"spun", TimeoutError}


@pytest.mark.rotated
@pytest.mark.parametrize(
    "body",
    [
        lambda: time.sleep(600),
        lambda: [1 for _ in iter(int, 1)],
        lambda: re.match("(a+)+b", "a" * 60),
        lambda: threading.Event().wait(),
    ],
    ids=["sleep", "loop", "regular expression", "lock"],
)
def test_what_blocks_the_main_thread_is_ended(bounds, body):
    assert isinstance(bounds.run(body).error, TimeoutError)


def test_several_have_the_time_of_one(bounds):
    bounds.seconds = 600
    kept, begun = [], threading.Event()

    def blocks():
        kept.append(len(kept))
        begun.set()
        time.sleep(600)

    threading.Thread(target=lambda: begun.wait() and bounds.cancel()).start()
    with bounds.shared():
        outcomes = [bounds.run(blocks) for _ in range(3)]
    assert [type(each.error) for each in outcomes] == [InterruptedError] * 3
    assert kept == [0]


def test_one_that_catches_its_end_is_ended_again(bounds):
    def catches():
        for _ in range(3):
            with contextlib.suppress(BaseException):
                time.sleep(600)
        return "left"

    assert bounds.run(catches).value == "left"


def test_all_is_as_before(bounds):
    before = [getattr(*each) for each in REPLACED]
    handlers = [signal.getsignal(number) for number in (signal.SIGURG, signal.SIGWINCH)]
    outcome = bounds.run(lambda: [print("kept"), exit(3)])  # noqa: PLR1722
    assert outcome.prints == "kept\n"
    assert outcome.problem == "SystemExit: 3 (the program goes on)"
    assert [getattr(*each) for each in REPLACED] == before
    assert [signal.getsignal(number) for number in (signal.SIGURG, signal.SIGWINCH)] == handlers
    assert not sys.stdin.closed


def test_other_threads_are_not_contained(bounds):
    inside, done = threading.Event(), threading.Event()
    printed = []

    class Stream:
        def write(self, text):
            printed.append(text)

    def other():
        inside.wait()
        sys.stdout.write("theirs")
        done.set()

    before, sys.stdout = sys.stdout, Stream()
    try:
        thread = threading.Thread(target=other)
        thread.start()
        bounds.seconds = 600
        outcome = bounds.run(lambda: [inside.set(), done.wait(), print("ours")])
        thread.join()
    finally:
        sys.stdout = before
    assert printed == ["theirs"]
    assert outcome.prints == "ours\n"


def test_a_child_that_it_forks_ends_with_it(bounds):
    bounds.seconds = 600
    assert bounds.run(lambda: os.waitpid(os.fork(), 0)[1]).value == 0
