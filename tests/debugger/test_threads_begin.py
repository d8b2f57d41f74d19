"""A stop while another thread is about to begin, which the kernel does not know yet."""

import pyharness

SCRIPT = """\
import threading
begins = threading.Thread(target=print, name="begins")
threading._limbo[begins] = begins  # as Thread.start() does, until the thread runs
number = len(threading.enumerate())
print(number)
del threading._limbo[begins]
"""


def test_a_thread_that_has_no_number_yet_is_left_out(tmp_path):
    script = tmp_path / "begins.py"
    script.write_text(SCRIPT)
    with pyharness.debug(str(script)) as program:
        stop = program.run_to(f"py:{script}:5")
        assert stop.thread == program.pid
        assert int(program.evaluate("number")) > 1
        assert program.finish() == 0
