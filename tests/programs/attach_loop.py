"""Runs until its input ends, in the way that its argument says; tells whether anything of a debugger is left then."""

import select
import sys


def ended():
    return bool(select.select([sys.stdin], [], [], 0.002)[0])


def work(number):
    doubled = number * 2  # @work
    return doubled  # @work_return


def calls():
    number = 0
    while not ended():
        work(number)
        number += 1


def nothing():
    number, wait, stdin = 0, select.select, sys.stdin
    while not wait([stdin], [], [], 0.002)[0]:
        number += 1  # @nothing


def threads():
    import threading

    workers = [threading.Thread(target=calls, name=f"worker {number}") for number in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()


def native():
    import crossing

    while not ended():
        crossing.repeat(3)  # @repeat
        crossing.released(1)  # @released


def blocked():
    """The main thread stands in native code, without the GIL; another works."""
    import threading

    import crossing

    worker = threading.Thread(target=calls, name="worker")
    worker.start()
    crossing.wait_for(0)  # @blocked
    worker.join()


def holding():
    """The main thread stands in native code and keeps the GIL."""
    import crossing

    print("holding", flush=True)
    crossing.wait_holding(0)


def forks():
    """A child a line of input."""
    import multiprocessing

    context = multiprocessing.get_context(sys.argv[2])
    for line in sys.stdin:
        child = context.Process(target=work, args=(int(line),), name=f"child {int(line)}")
        child.start()
        child.join()
        print("child", child.exitcode, flush=True)


def loads():
    """Loads a library all the time."""
    import ctypes

    import crossing

    while not ended():
        for _ in range(100):
            ctypes.CDLL(crossing.__file__)
        work(0)


def late():
    """Is in debugpy each time its session ends, and comes out later."""
    sessions = []
    while not ended():
        now = getattr(sys.modules.get("pydevd"), "get_global_debugger", lambda: None)()
        for before in sessions:
            if before is not now:
                before.enable_tracing()
        if now not in {None, *sessions}:
            sessions.append(now)
        work(len(sessions))


def left():
    monitoring = getattr(sys, "monitoring", None)
    return sys.gettrace() or (monitoring and monitoring.get_tool(monitoring.DEBUGGER_ID))


if __name__ == "__main__":
    print("begin", flush=True)
    globals()[sys.argv[1]]()
    print("left", left(), flush=True)
    sys.exit(7)
