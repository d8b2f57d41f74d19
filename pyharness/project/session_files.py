"""``debugging/OP.toml`` and ``debugging/OP.gdb``: the same stop for `pyharness session run` and for plain gdb."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from pyharness.project.own_command import CODE

if TYPE_CHECKING:
    from pyharness.project.ops import Op

_MOST_PRINTED = 4
_SESSION = """# Stops in {where}, which {caller} runs.
#
#   pyharness session run {folder}/{name}.toml
#
# Made by `pyharness init`, yours to change; docs/sessions.md of pyharness says what else can be asked.

[program]
script = {script}
cwd = ".."
kill = true  # ends the program behind the last step

[[step]]
at = {place}
stack = true{prints}
expect = {{ language = "native", reason = "breakpoint"{expected} }}
"""
_GDB = """# Stops in {where}, which {caller} runs.
#
#   gdb -batch -x {folder}/{name}.gdb      in the project's folder; PYHARNESS_PYTHON chooses the interpreter
#
# Made by `pyharness init`, yours to change; docs/gdb.md of pyharness lists the commands.
set pagination off
set confirm off
python import os, subprocess
python interpreter = os.environ.setdefault("PYHARNESS_PYTHON", {python})
python ours = subprocess.check_output([interpreter, "-c", "{code}", "gdb-script"], text=True).strip()
python gdb.execute(f"source {{ours}}")
ph-program {script}

ph-break {place}
ph-run
ph-bt
kill
"""


def session(op: Op, name: str, script: str, folder: str) -> str:
    """The session file; ``script`` is relative to it."""
    names = [one.name for one in op.parameters if one.name][:_MOST_PRINTED]
    expected = f", function = {json.dumps(op.function.rpartition('::')[2])}" if op.function else ""
    expected += f", file = {json.dumps(op.file)}" if op.file else ""
    return _SESSION.format(
        where=_where(op),
        caller=_caller(op),
        name=name,
        folder=folder,
        script=json.dumps(script),
        place=json.dumps(op.place),
        prints=f"\nprint = {json.dumps(names)}" if names else "",
        expected=expected,
    )


def gdb_script(op: Op, name: str, script: str, folder: str, python: str) -> str:
    """The gdb script; ``script`` is relative to the project, ``python`` as a person of it calls it."""
    return _GDB.format(
        where=_where(op),
        caller=_caller(op),
        name=name,
        folder=folder,
        script=script,
        place=op.place,
        python=json.dumps(python),
        code=CODE,
    )


def file_name(op: Op) -> str:
    """What its files are called."""
    return re.sub(r"\W", "_", op.name)


def _where(op: Op) -> str:
    """Without its line, which edits move."""
    if not op.function:
        return f"the lambda in {op.file}"
    return f"{op.function} ({op.file})" if op.file else op.function


def _caller(op: Op) -> str:
    return op.python_name if op.via != "module" else f"{op.name} of the extension"
