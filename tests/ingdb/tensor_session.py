"""One program full of tensors and running backwards, as gdb sees it alive and in its core: once for all tests."""

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

from kit.builds import tensor_kernel
from kit.paths import ROOT

COLLECT = f"source {Path(__file__).with_name('tensor_collect.py')}"
LOAD = (
    f"source {ROOT}/pyharness/ingdb/load.py",
    "python from pyharness.ingdb.opening import attach; from pyharness.ingdb.process import libraries",
    "python from pyharness.ingdb.commands import tensor; from pyharness.ingdb.printers import known",
    "python known.register(); tensor.register(); attach.configure()",
)
COMMANDS = (
    *("ph-tensor copy", "ph-tensor impl --stats", "ph-tensor maybe", "ph-tensor matrix", "ph-tensor local --stats"),
    *("ph-tensor nosuch", "ph-tensor scalar", "ph-tensor copy --ful", "ph-tensor copy --max 0", "ph-tensor"),
    *("ph-tensor 0x10", "ph-tensor corrupt", "ph-tensor copy --json", "ph-tensor undefined --save /nowhere/x"),
    *("ph-tensor copy --save /nowhere/x.npy", "ph-tensor nothing", "ph-tensor null_pointer"),
)
WAITING = 4
"""The kernel, and three threads in a backward."""


@cache
def looked_at(folder):
    """What torch says (``torch``), and what gdb found in the live process (``live``) and in its core (``core``)."""
    table, core = folder / "table.json", folder / "core"
    command = [sys.executable, ROOT / "tests/programs/tensor_zoo.py", tensor_kernel(), table]
    program = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        assert program.stdout.read(WAITING) == b"r" * WAITING
        attach = f"python attach.attach({program.pid}, non_stop=False)"
        live = _gdb(folder, "live", attach, COLLECT, f"generate-core-file {core}", "detach")
        program.communicate(b"x" * WAITING, timeout=60)
    finally:
        program.kill()
        program.wait()
    load = (f"core-file {core}", "python libraries.load_user_symbols()")
    dead = _gdb(folder, "core", *load, COLLECT, program=os.path.realpath(sys.executable))
    core.unlink()
    said = json.loads(table.read_text())
    return {"torch": said, "live": live, "core": dead, "exit": program.returncode, "folder": folder}


def _gdb(folder, name, *commands, program=None):
    found = folder / f"{name}.json"
    arguments = [part for command in (*LOAD, *commands) for part in ("-ex", command)]
    command = ["gdb", "-nx", "-q", "-batch", *arguments, *([program] if program else [])]
    saves = [f"ph-tensor copy --save {folder}/copy", f"ph-tensor local --save {folder}/local.npy"]
    environment = {
        "ZOO_TABLE": str(folder / "table.json"),
        "ZOO_FOUND": str(found),
        "ZOO_COMMANDS": json.dumps([*COMMANDS, *saves]),
        "PYHARNESS_HOME": str(folder / "home"),
    }
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env=os.environ | environment, timeout=150
    )
    assert found.exists(), f"{command}\n{done.stdout}\n{done.stderr}"
    return json.loads(found.read_text())
