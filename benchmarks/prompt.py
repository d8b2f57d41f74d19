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
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.dap_session.servers import SCRIPT, extension, mark
from benchmarks.table import Check, Row, Table

RUNS = 40
STARTS = 7
PYTHON_MS, NATIVE_MS, KERNEL_MS = 15.0, 15.0, 25.0
FIRST_PROMPT_S = 0.5
"""Beyond what the bare program takes to that line."""
_PATIENCE = 60.0
_OURS, _PDB, _BARE = "pyharness debug", "pdb", "bare program"


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

    def end(self, leaves: str = "quit") -> None:
        """Leave."""
        with suppress(OSError):  # it has ended by itself
            os.write(self._terminal, f"{leaves}\n".encode())
        os.waitpid(self._pid, 0)
        os.close(self._terminal)


def _first_prompts(*, behind_torch: bool) -> tuple[float, float]:
    """Seconds to a line of a program under the debugger, and of the bare program: both write a prompt there."""
    begun: dict[str, list[float]] = {_OURS: [], _BARE: []}
    with TemporaryDirectory() as folder:
        script, bare = Path(folder, "program.py"), Path(folder, "bare.py")
        imports = "import torch\n" if behind_torch else ""
        script.write_text(f"{imports}pass\n", encoding="utf-8")
        bare.write_text(f"{imports}print('(ph) ', end='', flush=True)\n", encoding="utf-8")
        at = ["--at", f"py:{script}:2"] if behind_torch else []
        commands = {_OURS: ["-m", "pyharness", "debug", str(script), *at], _BARE: [str(bare)]}
        for _ in range(STARTS):
            for who, words in commands.items():
                dialogue = _Dialogue([sys.executable, *words], "(ph) ")
                begun[who].append(dialogue.begun)
                dialogue.end()
    return statistics.median(begun[_OURS]), statistics.median(begun[_BARE])


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
    first = {
        name: _first_prompts(behind_torch=name != "first line") for name in ("first line", "line behind import torch")
    }
    rows += [
        Row(f"prompt at the {name}", who, seconds, "s", STARTS)
        for name, both in first.items()
        for who, seconds in zip((_OURS, _BARE), both, strict=True)
    ]
    checks = [
        Check("a Python step until shown, ms", medians["python"], PYTHON_MS),
        Check("a native step until shown, ms", medians["native"], NATIVE_MS),
        Check("into the kernel until shown, ms", medians["into"], KERNEL_MS),
        *(
            Check(f"the prompt at the {name}, s beyond the bare program", ours - bare, FIRST_PROMPT_S)
            for name, (ours, bare) in first.items()
        ),
    ]
    return Table("prompt", tuple(rows), tuple(checks))
