"""The fault table: which part dies, in which phase, behind which door; one that is not there has its reason.

``python tests/faults/cells.py`` prints it for docs/faults.md.
"""

import os

from fault_phases import PHASES

DOORS = ("debug", "attach")
PARTS = ("harness", "gdb", "program", "terminal", "disk")
WITHOUT_GDB = {"starting", "ready", "running", "Python stop", "step in Python", "Python expression"}
TIMES = int(os.environ.get("PYHARNESS_FAULT_TIMES", "1"))
"""How often each cell runs; the bar is 3."""


def lacks(door, part, phase):
    """Why there is no such cell; empty where there is."""
    if part == "gdb" and phase in WITHOUT_GDB:
        return "gdb is not attached then"
    if part == "disk" and door == "attach" and phase == "starting":
        return "the handle's socket is on that disk: without it there is nothing to attach to"
    return ""


def cells():
    """(door, part, phase) of all, in a fixed order."""
    every = [(door, part, phase) for door in DOORS for part in PARTS for phase in PHASES]
    return [cell for cell in every if not lacks(*cell)]


def rows():
    """The table, in Markdown."""
    yield f"| phase | {' | '.join(f'{door}: {part}' for door in DOORS for part in PARTS)} |"
    yield f"|---|{'---|' * len(DOORS) * len(PARTS)}"
    for phase in PHASES:
        marks = ["-" if lacks(door, part, phase) else "x" for door in DOORS for part in PARTS]
        yield f"| {phase} | {' | '.join(marks)} |"


if __name__ == "__main__":
    print("\n".join(rows()))
    print(f"\n{len(cells())} cells")
