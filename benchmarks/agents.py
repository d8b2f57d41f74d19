"""What an agent reads until it has found a planted bug: by ``pyharness mcp``, and by gdb and pdb in batch mode.

A token is taken for three characters on both sides. Of ours the text of the answers counts, of the peers all that they
print. The peers' commands are those of someone who knows where to look.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.finding import tasks
from benchmarks.finding.client import Client
from benchmarks.table import Check, Row, Table

OURS, THEIRS = "pyharness mcp", "gdb -batch, pdb"
GOAL = 0.2
_SECONDS = 120


def run(runs: int = 1) -> Table:
    """Find each bug both ways; what is read does not change from run to run."""
    del runs
    rows: list[Row] = []
    sums = {OURS: 0, THEIRS: 0}
    most_calls = 0
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder) / "libbugs.so"
        tasks.build(library)
        os.environ[tasks.LIBRARY] = str(library)
        with Client(tasks.PROGRAMS) as client:
            for task in tasks.TASKS:
                with tasks.running(task, library) as pids:
                    texts = tasks.find(task, pids, client.call)
                client.call("end", {})
                if task.place not in "\n".join(texts):
                    raise SystemExit(f"{task.name}: {task.place} was not found")
                most_calls = max(most_calls, len(texts))
                with tasks.running(task, library) as pids:
                    said = "".join(_said(command, task.name, pids) for command in task.peer)
                for subject, text in ((OURS, "\n".join(texts)), (THEIRS, said)):
                    sums[subject] += tasks.tokens(text)
                    rows.append(Row(task.name, subject, tasks.tokens(text), "tokens", 1))
    ours = [row.median for row in rows if row.subject == OURS]
    checks = (
        Check("calls until the planted line is named, at most", most_calls, tasks.MOST_CALLS),
        Check("tokens until then, at most", max(ours), tasks.MOST_TOKENS),
        Check(f"tokens of all, over {THEIRS}", sums[OURS] / sums[THEIRS], GOAL),
    )
    return Table("agents", tuple(rows), checks)


def _said(command: tuple[str, ...], name: str, pids: list[str]) -> str:
    """All that a peer prints; of several processes, one after the other."""
    text = ""
    for pid in pids or [""]:
        words: list[str] = []
        for word in command:
            words += [str(tasks.SCRIPT), name] if word == "SCRIPT" else [pid if word == "PIDS" else word]
        settings: dict[str, Any] = {"capture_output": True, "text": True, "errors": "replace", "timeout": _SECONDS}
        done = subprocess.run(words, cwd=tasks.PROGRAMS, stdin=subprocess.DEVNULL, check=False, **settings)
        text += done.stdout + done.stderr
    return text
