"""gdb's threads: only its main one may take the signals by which it hears of the program."""

import signal
from pathlib import Path

from pyharness.host.loader import words_of


def blocked(status):
    """The signals that a thread blocks, as the kernel shows them: bit n - 1 for signal n."""
    (mask,) = (line.split()[1] for line in status.read_text().splitlines() if line.startswith("SigBlk"))
    return {number for number in signal.valid_signals() if int(mask, 16) >> (number - 1) & 1}


def gdbs():
    children = [pid for task in Path("/proc/self/task").glob("*/children") for pid in task.read_text().split()]
    return [pid for pid in children if Path(next(iter(words_of(int(pid))), "")).name.startswith("gdb")]


def test_no_thread_but_the_main_one_takes_signals(debugged):
    crossing = debugged("core_crossing.py")
    with crossing.start() as program:
        program.run_to("native:fail")
        (gdb,) = gdbs()
        others = [task for task in Path(f"/proc/{gdb}/task").iterdir() if task.name != gdb]
        assert others
        wanted = {signal.SIGCHLD, signal.SIGINT, signal.SIGTERM}
        assert all(wanted <= blocked(task / "status") for task in others)
