"""Run inside gdb: the native stacks of all threads as we see them, and as gdb does after it has read every library."""

import json
import os
import time
from pathlib import Path

import gdb

from pyharness.ingdb.functions import native_names


def stack():
    frame, found = gdb.newest_frame(), []
    while frame is not None and (frame.pc() or not found):
        found.append([frame.pc(), int(frame.read_register("rsp")), *native_names.name_of(frame), int(frame.type())])
        frame = frame.older()
    return found


def stacks():
    found = {}
    for thread in gdb.selected_inferior().threads():
        thread.switch()
        found[thread.ptid[1]] = stack()
    return found


answer = {"bt": gdb.execute("bt", to_string=True)}  # of the thread that stopped: the next lines select others
answer["ours"] = stacks()
started = time.process_time()
stacks()
answer["again"] = time.process_time() - started
answer["libraries"] = sorted(objfile.filename for objfile in gdb.objfiles() if objfile.filename)
if os.environ.get("NATIVE_CORE"):
    gdb.execute(f"generate-core-file {os.environ['NATIVE_CORE']}", to_string=True)
if os.environ.get("NATIVE_ALL"):
    gdb.execute("disable unwinder global pyharness", to_string=True)
    gdb.execute("sharedlibrary", to_string=True)
    answer["theirs"] = stacks()
Path(os.environ["NATIVE_ANSWER"]).write_text(json.dumps(answer), encoding="utf-8")
