"""A lock that another thread has as the program forks: the child has it, and is not kept for ever."""

import os
import threading

from pyharness.debuggee.fork_lock import ForkLock


def forked(child):
    """The exit status of a child that does this."""
    pid = os.fork()
    if not pid:
        os._exit(child())
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def test_a_child_can_take_it_and_so_can_its_threads():
    lock, taken, over = ForkLock(threading.RLock()), threading.Event(), threading.Event()
    lock.begin(threading.RLock())

    def keeps():
        while not over.is_set():
            with lock:
                taken.set()
                over.wait(0.01)
            over.wait(0.001)  # others may have it now

    def takes():
        threading.Timer(10, os._exit, (3,)).start()
        with lock:
            pass
        other = threading.Thread(target=lock.__enter__)
        other.start()
        other.join(5)
        os._exit(2 if other.is_alive() else 0)

    keeper = threading.Thread(target=keeps)
    keeper.start()
    try:
        assert taken.wait(10)
        assert [forked(takes) for _ in range(5)] == [0] * 5
    finally:
        over.set()
        keeper.join()
    assert forked(takes) == 0
