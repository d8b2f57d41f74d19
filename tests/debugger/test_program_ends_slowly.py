"""A program that takes long to end after debugpy has left it: its exit code is told, and nothing is called lost."""

import pyharness

SLEEPS = "(lambda c: c.on_exit(c.sleep, None))(__import__('ctypes').CDLL(None))"


def test_the_exit_code_comes_when_the_process_has_ended(debugged):
    slow = debugged("ends_slowly.py")
    with slow.start() as program:
        program.run_to(slow.at("stop"))
        assert program.finish() == 3


def test_one_that_was_attached_to(running):
    slow = running("attach_loop.py", "calls", handle="slow")
    with pyharness.attach("slow") as program:
        program.run_to(slow.at("work"))
        program.evaluate(SLEEPS)
        slow.hang_up()
        assert program.finish() == 7
