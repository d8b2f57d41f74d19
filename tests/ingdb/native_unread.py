"""Run inside gdb: a stack through a library that gdb has not read, by us and by gdb after it has read it."""

import json
import os
from pathlib import Path

import gdb

from pyharness.ingdb.functions import native_names
from pyharness.ingdb.opening import attach
from pyharness.ingdb.process import libraries

attach.configure()
gdb.execute("handle SIGUSR1 nostop noprint pass", to_string=True)
gdb.execute("tbreak here", to_string=True)
gdb.execute("run", to_string=True)


def stack():
    frame, found = gdb.newest_frame(), []
    while frame is not None:
        registers = [int(frame.read_register(name)) for name in ("rsp", "rbp", "rbx", "r12")]
        found.append([frame.pc(), *registers, native_names.name_of(frame)[0], int(frame.type())])
        frame = frame.older()
    return found


def finished():
    """Names of the frames in which three ``finish`` from the middle of the unread library end."""
    names = []
    gdb.newest_frame().older().select()  # a noreturn function: gdb has to find its caller's frame all the same
    for _ in range(2):
        names.append(native_names.name_of(gdb.selected_frame())[0])
        gdb.execute("up", to_string=True)
    return names


library = libraries.library_at(gdb.newest_frame().older().pc())
ours, read_before = stack(), libraries.is_loaded(library)
walked = finished()
gdb.execute("disable unwinder global pyharness", to_string=True)
libraries.load_symbols(library)
theirs, read_after = stack(), libraries.is_loaded(library)
answer = {"ours": ours, "theirs": theirs, "read": [read_before, read_after], "walked": walked}
Path(os.environ["NATIVE_ANSWER"]).write_text(json.dumps(answer), encoding="utf-8")
gdb.execute("kill")
