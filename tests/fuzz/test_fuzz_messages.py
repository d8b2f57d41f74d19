"""What comes over a socket: greetings of visitors, and answers to a program's questions. It is taken or hung up on."""

import contextlib
import json
import socket
import subprocess
import sys
from subprocess import PIPE

import pytest
from fuzzing import fuzzed
from hypothesis import strategies as st

from pyharness.debuggee.link.conversation import Conversation
from pyharness.host import handles
from pyharness.model.codec import MalformedError
from pyharness.protocol.channel import Go, Library, Ready, Visit, greeting_in

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["id", "name", "answer", "key", "stop", "type"]) | st.text(max_size=6), inner, max_size=4
        )
    ),
    max_leaves=8,
)
lines = st.lists(st.binary(max_size=60) | json_values.map(lambda value: json.dumps(value).encode() + b"\n"), max_size=4)


@fuzzed(said=lines.map(b"".join))
def test_a_conversation(said):
    """A debugger that talks nonsense lets the program run on."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        conversation = Conversation(theirs, lambda: None)
        ours.sendall(said)
        ours.shutdown(socket.SHUT_WR)
        assert conversation.ask(Library("lib.so")) in {None, Go(), Go(stop=True)}
        assert conversation.ask(Ready()) is None
        assert conversation.over.wait(10)
        conversation.hang_up()


SERVED = """
import sys
from pyharness.debuggee.link.served import Served
Served("fuzzed", "nothing").start()
print("listening", flush=True)
sys.stdin.read()
"""


@pytest.fixture(scope="module")
def handle():
    """That of a program of its own: a served process is watched from then on."""
    with subprocess.Popen([sys.executable, "-c", SERVED], stdin=PIPE, stdout=PIPE, text=True) as program:
        assert program.stdout.readline() == "listening\n"
        (card,) = handles.live()
        yield card
        program.communicate()
    assert program.returncode == 0


@fuzzed(said=lines.map(b"".join).filter(lambda said: not is_visitor(said)))
def test_a_greeting(handle, said):
    """One that is no debugger's is hung up on without a word, and the next is let in."""
    with handle.connect() as stranger:
        stranger.sendall(said)
        stranger.shutdown(socket.SHUT_WR)
        stranger.settimeout(10)
        with contextlib.suppress(ConnectionResetError):  # not all that was said was read
            assert stranger.recv(100) == b""


def is_visitor(said):
    try:
        return isinstance(greeting_in(said.partition(b"\n")[0]), Visit)
    except MalformedError:
        return False
