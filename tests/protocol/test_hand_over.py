"""What a program says before it has our modules is read as the messages of it, and nothing else is."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as some
from made_up import JSON, values

from pyharness.model.codec import MalformedError, encode
from pyharness.protocol.hand_over import Introduction, Refusal, Unpacked, said

SAID = (Introduction, Unpacked)


@given(some.data())
def test_each_message_survives_the_wire(data):
    kind = data.draw(some.sampled_from(SAID))
    for message in (data.draw(values(kind)), data.draw(values(Refusal))):
        assert said(kind, json.dumps(encode(message)).encode()) == message


@given(JSON, some.sampled_from(SAID))
def test_anything_else_is_one_error(data, kind):
    problem = heard = None
    try:
        heard = said(kind, json.dumps(data).encode())
    except MalformedError as error:
        problem = str(error)
    assert json.loads(json.dumps(encode(heard))) == data if problem is None else "hand-over" in problem


@pytest.mark.parametrize("line", [b"", b"{", b"\xff\n"])
def test_a_line_that_was_cut_is_a_value_error(line):
    with pytest.raises(ValueError):  # noqa: PT011  (json's, the codec's and Unicode's have that alone in common)
        said(Introduction, line)
