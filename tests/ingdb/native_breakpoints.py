"""Run inside gdb: writes the user's functions as we find them, and where gdb would stop in each."""

import json
import os
import re
from pathlib import Path

import gdb

from pyharness.ingdb.functions import user_functions
from pyharness.reading.binaries.elf import open_elf

path = os.environ["NATIVE_LIBRARY"]
found = user_functions.user_functions(open_elf(path))
gdb.execute(f"file {path}", to_string=True)
gdb.execute("set breakpoint pending off")


def stop_of(function):
    said = gdb.execute(f"tbreak -qualified -function '{function.linkage_name}'", to_string=True)
    address = re.search(r" at 0x([0-9a-f]+)", said)
    line = gdb.find_pc_line(function.entry)
    return {"address": int(address[1], 16), "line": line.line, "file": line.symtab.fullname() if line.symtab else None}


answer = [{**vars(function), "gdb": stop_of(function)} for function in found]
Path(os.environ["NATIVE_ANSWER"]).write_text(json.dumps(answer), encoding="utf-8")
