"""A client that sends nonsense by the thousand: each request is answered once, nothing hangs, and no bug shows."""

from collections import Counter

import mischief
import pytest
from debugging import Debugging

from kit import dap_protocol as protocol
from kit.dap_client import PATIENCE
from pyharness.dapwire.wire import Decoder, Malformed

pytestmark = pytest.mark.rotated_tests(turns=6)


PURE, IDLE, RAW, STANDING = 30_000, 50_000, 18_000, 1_000
"""For the decoder alone, for an adapter without a program, as broken bytes, and at each of two stops: 100,000."""
FILLER = 1000
"""Requests after broken bytes: more than a length that was made wrong can take in."""


class Crowd:
    """Sends much to one client's adapter, and keeps what is said of each number."""

    def __init__(self, client):
        self.client = client
        self.answers = Counter()
        self.bugs = []
        self.checked = set()
        self._before, client.take = client.take, self._take

    def leave(self):
        """Let the client take what comes itself again."""
        with self.client.changed:
            self.client.take = self._before

    def _take(self, message):
        if message["type"] == "response":
            self.answers[message["request_seq"]] += 1
            if "bug in pyharness" in str(message.get("body")):
                self.bugs.append(message)
        kind = protocol.definition_of(message), message.get("message", "")[:20]
        if kind not in self.checked:  # the schema is slow: one of each kind
            self.checked.add(kind)
            self.client.faults += protocol.faults(message)

    def send(self, frames, last):
        """Send all, and wait until request ``last`` is answered."""
        for frame in frames:
            self.client.write(frame)
        with self.client.changed:
            assert self.client.changed.wait_for(lambda: last in self.answers or self.client.ended, PATIENCE)
        assert not self.client.ended
        assert not self.bugs, self.bugs[:5]


def test_the_decoder_takes_everything():
    decoder, kinds = Decoder(), Counter()
    for data in mischief.mangled(PURE, seed=1):
        kinds.update(type(message) for message in decoder.feed(data))
    assert set(kinds) == {dict, Malformed}
    assert min(kinds.values()) > PURE // 5


def test_an_adapter_without_a_program_answers_each_request_once(dap):
    crowd = Crowd(dap.stdio())
    crowd.send(map(mischief.framed, mischief.requests(IDLE, seed=2)), last=IDLE)
    assert crowd.answers == dict.fromkeys(range(1, IDLE + 1), 1)


def test_broken_bytes_do_not_take_the_adapter_along(dap):
    crowd = Crowd(dap.stdio())
    crowd.send(mischief.mangled(RAW, seed=3), last=0)
    filler = [{"seq": RAW + number, "type": "request", "command": "threads"} for number in range(1, FILLER + 1)]
    crowd.send(map(mischief.framed, filler), last=RAW + FILLER)
    assert len(crowd.answers) > RAW // 2


@pytest.mark.rotated
@pytest.mark.parametrize("native", [(), ("call",)], ids=["python", "native"])
def test_a_program_stands_through_nonsense(dap, native):
    program = Debugging(dap.stdio(), "core_crossing.py").launch("local", native=native)
    stood = program.stood()
    before = [frame["name"] for frame in program.stack(stood.thread)]
    first, last = 1000, 1000 + STANDING - 1
    crowd = Crowd(program.client)
    messages = mischief.requests(STANDING, seed=4, first=first, spared={"terminate", "restart", "goto"})
    crowd.send(map(mischief.framed, messages), last=last)
    crowd.leave()
    assert all(crowd.answers[number] == 1 for number in range(first, last + 1))
    assert [frame["name"] for frame in program.stack(stood.thread)] == before
    program.leave()
