"""A gdb whose own assertion fails: it is gone, that is said, and it leaves nothing in the folder where we are."""

import queue

import pytest

from pyharness.gdbmi.client import GdbClient, GdbLostError


def test_a_gdb_that_fails_ends_and_leaves_no_core(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    notices = queue.SimpleQueue()
    gdb = GdbClient(notices.put)
    with pytest.raises(GdbLostError):
        gdb.console("maint internal-error on purpose")
    while notices.get(timeout=20) is not None:
        pass
    assert any("on purpose" in line for line in gdb.transcript)
    assert not gdb.close()
    assert not list(tmp_path.iterdir())
