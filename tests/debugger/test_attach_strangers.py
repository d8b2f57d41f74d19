"""A program with a handle, and one that is being debugged, let nobody in who is not of its user."""

import os

import pytest

import pyharness
from kit.strangers import assert_let_nobody_in


@pytest.mark.rotated
@pytest.mark.parametrize("handle", ["walker", ""], ids=["handle", "plain"])
def test_an_attached_program_lets_nobody_in(running, handle):
    walker = running("attach_loop.py", "native", handle=handle)
    pids = [os.getpid(), walker.pid]
    before = assert_let_nobody_in(pids)
    assert {family for family, _ in before} == ({"unix"} if handle else set())
    with pyharness.attach(handle or walker.pid, children=True) as program:
        program.run_to(walker.at("repeat"))
        assert {family for family, _ in assert_let_nobody_in(pids)} == {"unix"}
        program.run_to("native:tick")
        assert_let_nobody_in(pids)
    assert_let_nobody_in(pids)
    walker.ends_free()
