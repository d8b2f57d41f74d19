"""A terminal that stands in for standard input: who waits there reads on behind it."""

import sys

import pytest

from kit.terminal import Terminal

READS = """
import os, select, sys, threading, time
from pyharness.debuggee.in_place.stand_in import StandIn

def polls():
    polled = select.poll()
    polled.register(0, select.POLLIN)
    polled.poll()

def read():
    {"read": lambda: None, "select": lambda: select.select([0], [], []), "poll": polls}[sys.argv[1]]()
    print("heard", os.read(0, 100), flush=True)

stand_in, thread = StandIn(), threading.Thread(target=read)
own = os.ttyname(0)
stand_in.begin()
alone = os.ttyname(0)
thread.start()
time.sleep(0.2)
stand_in.begin()
other = os.ttyname(0)
stand_in.end()
print("stood", own == alone, own != other, own == os.ttyname(0), flush=True)
thread.join()
"""


@pytest.mark.parametrize("call", ["read", "select", "poll"])
def test_who_waits_reads_on_and_where_nobody_does_all_stays(environment, call):
    terminal = Terminal([sys.executable, "-c", READS, call], environment)
    terminal.wait_for("stood True True True")
    terminal.type("World\r")
    terminal.wait_for("heard b'World\\n'")
    assert terminal.ends() == 0
