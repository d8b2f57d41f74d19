"""What a person at the prompt waits for: from Enter to the shown stop, and from the command to the first prompt.

``pyharness debug`` in a terminal of its own, beside pdb's Python step on the same program.
"""

from __future__ import annotations

import os
import pty
import select
import statistics
import sys
import time

from benchmarks.dap_session.servers import SCRIPT, extension, mark
from benchmarks.table import Check, Row, Table

RUNS = 40
PYTHON_MS, NATIVE_MS, KERNEL_MS = 15.0, 15.0, 25.0
_PATIENCE = 60.0
_OURS, _PDB = "pyharness debug", "pdb"


class _Dialogue:
    """A command at a prompt in a terminal of its own."""

    def __init__(self, command: list[str], prompt: str) -> None:
        self._prompt = prompt.encode()
        self._pid, self._terminal = pty.fork()
        if not self._pid:
            os.execvpe(command[0], command, {**os.environ, "TERM": "dumb"})  # noqa: S606  (arguments, no shell)
        self.begun = self._until_prompt(time.monotonic())

    def takes(self, line: str) -> float:
        """Seconds from Enter to the next prompt."""
        begun = time.monotonic()
        os.write(self._terminal, f"{line}\n".encode())
        return self._until_prompt(begun)

    def _until_prompt(self, begun: float) -> float:
        seen = b""
        while not seen.endswith(self._prompt):
            ready, _, _ = select.select([self._terminal], [], [], _PATIENCE)
            assert ready, seen.decode(errors="replace")
            seen += os.read(self._terminal, 1 << 16)
        return time.monotonic() - begun

    def end(self) -> None:
        """Leave."""
        os.write(self._terminal, b"quit\n")
        os.waitpid(self._pid, 0)
        os.close(self._terminal)


def run(runs: int = RUNS) -> Table:
    """Measure all of it."""
    library = extension()
    line = mark(SCRIPT, "op").line
    debug = [sys.executable, "-m", "pyharness", "debug", str(SCRIPT), "--at", f"py:{SCRIPT}:{line}", "--", library]
    ours = _Dialogue(debug, "(ph) ")
    pdb = [sys.executable, "-m", "pdb", "-c", f"b {SCRIPT}:{line}", "-c", "c", str(SCRIPT), library]
    theirs = _Dialogue(pdb, "(Pdb) ")
    times: dict[str, list[float]] = {"python": [], "pdb": [], "native": [], "into": [], "out": []}
    try:
        for _ in range(runs):
            times["into"].append(ours.takes("into native"))
            times["native"].append(ours.takes("next"))
            times["out"].append(ours.takes("out"))
            times["python"].append(ours.takes("next"))
            times["pdb"].append(theirs.takes("next"))
            ours.takes("continue")
    finally:  # the program under the debugger runs for ever
        ours.end()
        theirs.end()
    medians = {name: statistics.median(each) * 1e3 for name, each in times.items()}
    rows = [
        Row("a Python step", _OURS, medians["python"], "ms", runs),
        Row("a Python step", _PDB, medians["pdb"], "ms", runs),
        Row("a native step", _OURS, medians["native"], "ms", runs),
        Row("into the kernel", _OURS, medians["into"], "ms", runs),
        Row("out of the kernel", _OURS, medians["out"], "ms", runs),
    ]
    checks = [
        Check("a Python step until shown, ms", medians["python"], PYTHON_MS),
        Check("a native step until shown, ms", medians["native"], NATIVE_MS),
        Check("into the kernel until shown, ms", medians["into"], KERNEL_MS),
    ]
    return Table("prompt", tuple(rows), tuple(checks))
