"""The debugger's sockets in a program: several threads of ours and pydevd's give the same one back."""

import os
import socket
import sys
import threading

import pytest

from pyharness.debuggee.link.own_socket import OwnSocket


@pytest.fixture
def hasty():
    """Threads take turns as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("hasty")
def test_two_threads_close_it():
    failed = []

    def close(own, together):
        together.wait()
        try:
            own.close()
        except OSError as error:
            failed.append(error)

    for _ in range(200):
        own, other = OwnSocket((pair := socket.socketpair())[0]), pair[1]
        together = threading.Barrier(2)
        threads = [threading.Thread(target=close, args=(own, together)) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert other.recv(1) == b""
        other.close()
    assert not failed


def test_what_has_its_number_later_stays_open(tmp_path):
    ours, _theirs = socket.socketpair()
    own = OwnSocket(ours)
    number = own.fileno()
    with (tmp_path / "file").open("wb") as file:
        os.dup2(file.fileno(), number)
        own.close()
        assert os.fstat(number).st_ino == os.fstat(file.fileno()).st_ino
        os.close(number)
