"""What the clocks of several hosts differ by, measured through a store of torch's."""

import threading
import time

import pytest
from torch.distributed import TCPStore

from kit.ranked_job import free_port
from pyharness.ranks.store import clocks

AHEAD = 7_000_000_000


@pytest.fixture
def ranks():
    """The environments of three ranks, the last of which is on another host."""
    port = free_port()
    store = TCPStore("127.0.0.1", port, is_master=True, wait_for_workers=False)
    shared = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "WORLD_SIZE": "3"}
    hosts = ((0, 2), (0, 2), (1, 1))
    yield [
        {**shared, "RANK": str(rank), "GROUP_RANK": str(host), "LOCAL_WORLD_SIZE": str(count)}
        for rank, (host, count) in enumerate(hosts)
    ]
    del store


def test_a_clock_is_known_to_within_half_of_a_turn(ranks):
    found = {}

    def measure(rank, clock):
        found[rank] = clocks.measured(ranks[rank], clock)

    threads = [
        threading.Thread(target=measure, args=(0, lambda: time.time_ns() + AHEAD)),
        threading.Thread(target=measure, args=(2, time.time_ns)),
    ]
    for thread in threads:
        thread.start()
    measure(1, time.time_ns)
    for thread in threads:
        thread.join(30)
    assert (found[0], found[1]) == (clocks.Clock(0, 0), clocks.Clock(0, 0))
    assert 0 < found[2].within < 1_000_000_000
    assert abs(found[2].behind - AHEAD) <= found[2].within


def test_what_cannot_be_measured(ranks, monkeypatch):
    monkeypatch.setattr(clocks, "_PATIENCE", 0.2)
    assert clocks.measured(ranks[2]) is None  # the first rank has gone
    assert clocks.measured(ranks[0]) == clocks.Clock(0, 0)
    assert clocks.measured({**ranks[2], "MASTER_PORT": str(free_port())}) is None
    assert clocks.measured({"RANK": "1"}) is None
    assert clocks.measured({**ranks[0], "WORLD_SIZE": "2", "MASTER_PORT": "1"}) == clocks.Clock(0, 0)
