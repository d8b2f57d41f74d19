"""What the agent of a program was not started for: gdb takes it for a program that has none of that."""

import json

import pytest

from pyharness.debuggee import agent
from pyharness.protocol.agent import SetStops, UnknownError


def test_it_is_told_apart_from_what_was_refused():
    reply = json.loads(agent.answer(json.dumps({"do": "no such request"})))
    assert reply["unknown"]
    with pytest.raises(UnknownError, match="unknown request"):
        SetStops(()).answer_in(reply)
