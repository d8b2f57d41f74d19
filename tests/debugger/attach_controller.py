"""A controller to be killed: attaches, gets into a state, says so, and stays in it.

python attach_controller.py TARGET STATE [PLACE]
"""

import sys
import threading

import pyharness
from pyharness.debugger.live.shell import LiveShell

target, state, *place = sys.argv[1:]


def stay():
    print("standing", flush=True)
    sys.stdin.read()


if state in {"hello", "ready", "initialized"}:  # before that is handled
    handle = LiveShell.handle

    def handle_until(self, source, item):
        named = item.get("event") if source == "debugpy" and item else type(item).__name__.lower()
        if named == state:
            stay()
        handle(self, source, item)

    LiveShell.handle = handle_until

with pyharness.attach(target, eval_timeout=600) as program:
    if state == "running":
        stay()
    program.run_to(place[0])
    if state == "stepping":
        program.into_native()
    if state == "deaf":  # gdb is busy, and hears nothing of our end
        program._shell.native.link.post('-interpreter-exec console "python import time; time.sleep(600)"')
    if state == "halting":  # gdb has sent the signal by which it halts a thread, and has not seen it come
        halt = "import gdb, os, signal, time; os.kill(gdb.selected_inferior().pid, signal.SIGSTOP); "
        halt += "signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65)); time.sleep(600)"
        program._shell.native.link.post(f'-interpreter-exec console "python {halt}"')
    if state == "evaluating":
        threading.Thread(target=stay, daemon=True).start()
        program.evaluate(place[1])
    if state == "armed":
        program._shell.perform(program._shell.machine.request("into", ()))
    stay()
