"""What processes of one run tell each other through files of a private folder."""

import os
import signal

import pytest

from pyharness.protocol.aftermath import NOTHING, Now, read_now
from pyharness.pytest_plugin.files import Journal, NowFile

_TEST = Now("test", "test_a.py::test[ä\udce4]", "setup", 60.0, 3)
_MANY = 4_000
"""Reports that take several files."""


def _killed(function):
    """Run a function in a child that gets no further."""
    child = os.fork()
    if not child:
        try:
            function()
        finally:
            os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)


@pytest.mark.parametrize("phase", ["setup", "call", "teardown"])
def test_what_a_killed_process_was_at(tmp_path, phase):
    file = NowFile(str(tmp_path), "one")

    def be_at():
        file.say(_TEST)
        file.come_to(phase)

    _killed(be_at)
    said = Now("test", _TEST.name, phase, 60.0, 3)
    assert (file.said(), read_now(file.path)) == (said, said)


def test_nothing_is_said_before_the_first_and_behind_the_last(tmp_path):
    file = NowFile(str(tmp_path), "one")
    before = file.said()
    file.say(_TEST)
    file.say()
    assert (before, file.said(), read_now(file.path)) == (NOTHING, NOTHING, NOTHING)


def test_a_long_name_does_not_show_through_behind_a_short_one(tmp_path):
    file = NowFile(str(tmp_path), "one")
    file.say(Now("collection", "x" * 1000))
    file.say(Now("collection", "y"))
    assert file.said() == Now("collection", "y")


def test_all_reports_of_killed_processes_are_read_in_their_order(tmp_path):
    def write(first):
        journal = Journal(str(tmp_path))
        for number in range(first, first + _MANY):
            journal.write_passed(f"test[{number}]", ("test_a.py", 3, "test"), "call", 0.1, 0.2, 0.1)
        journal.write({"nodeid": "long", "text": "x" * 1_000_000})

    _killed(lambda: write(0))
    _killed(lambda: write(_MANY))
    read = Journal(str(tmp_path)).read()
    names = [entry["nodeid"] if isinstance(entry, dict) else entry[0] for entry in read]
    assert names == [
        *(f"test[{n}]" for n in range(_MANY)),
        "long",
        *(f"test[{n}]" for n in range(_MANY, 2 * _MANY)),
        "long",
    ]
    assert read[0] == ["test[0]", ["test_a.py", 3, "test"], "call", 0.1, 0.2, 0.1]


def test_one_name_at_two_places_keeps_both(tmp_path):
    journal = Journal(str(tmp_path))
    for line in (3, 7):
        journal.write_passed("test", ("test_a.py", line, "test"), "call", 0.1, 0.2, 0.1)
    assert [entry[1][1] for entry in journal.read()] == [3, 7]
