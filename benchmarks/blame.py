"""Who hangs a distributed job, and why: what ``pyharness ranks`` and three peers say of planted faults.

Each fault runs in two jobs at the same time: a bare one for ``pyharness ranks`` and py-spy, and one that was prepared
for torch's debug server and for the analyzer of its flight recorder. What each said is kept in ``build/blame``.
"""

from __future__ import annotations

import os
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.blaming import tools
from benchmarks.blaming.cases import CASES, Case
from benchmarks.blaming.grade import Grade, Said, grade, places
from benchmarks.blaming.job import PREPARED, ROOT, Job, free_port
from benchmarks.peers import fetch
from benchmarks.table import Check, Row, Table

if TYPE_CHECKING:
    from collections.abc import Callable

KEPT = ROOT / "build" / "blame"
OURS, SERVER, ANALYZER, PY_SPY = "pyharness ranks", "debug server", "torchfrtrace", "py-spy dump"
SETTLES = 13.0
"""Seconds from the start of a job to the questions: all faults have come to their hang."""


def run(runs: int = len(CASES)) -> Table:
    """Run the first ``runs`` faults, each once."""
    packages, missing = fetch("debug_server")
    KEPT.mkdir(parents=True, exist_ok=True)
    cases = CASES[:runs]
    heard = {case.name: _heard(case, packages) for case in cases}
    (KEPT / "table.md").write_text("\n".join(_lines(heard)))
    graded = {case.name: {tool: grade(case, said) for tool, said in heard[case.name].items()} for case in cases}
    rows = tuple(
        Row(name, tool, mark, mark.name.lower(), 1) for name, by in graded.items() for tool, mark in by.items()
    )
    named = sum(by[OURS] is Grade.NAMES for by in graded.values())
    check = Check(f"faults named, of {len(cases)}", named, len(cases), at_least=True)
    return Table("blame", rows, (check,), (missing,) if missing else ())


def _heard(case: Case, packages: str) -> dict[str, Said]:
    with tempfile.TemporaryDirectory() as folder, ExitStack() as ends:
        prepared = _prepared(case, packages, Path(folder), ends) if packages else None
        bare = ends.enter_context(Job(case.fault or case.name, case.environment))
        time.sleep(SETTLES)
        said = {OURS: tools.pyharness_ranks(bare.pids, folder)} | (prepared() if prepared else {})
        if packages:
            said[PY_SPY] = tools.py_spy(bare.pids, f"{packages}/bin/py-spy")
    for tool, words in said.items():
        (KEPT / f"{case.name}.{tool}.txt").write_text(f"blamed {sorted(words.blamed)}: {words.why}\n\n{words.whole}")
    return said


def _prepared(case: Case, packages: str, folder: Path, ends: ExitStack) -> Callable[[], dict[str, Said]]:
    """Start the job with what the peers need beforehand; return what asks them."""
    environment = {"PYTHONPATH": packages, "PATH": f"{packages}/bin:{os.environ['PATH']}"} | case.environment
    dumps, port = folder / "dumps", free_port()
    dumps.mkdir()
    ends.enter_context(Job(case.fault or case.name, environment, (str(PREPARED), str(port), str(dumps))))
    return lambda: {SERVER: tools.debug_server(port), ANALYZER: tools.analyzer(dumps, packages)}


def _lines(heard: dict[str, dict[str, Said]]) -> list[str]:
    by_name = {case.name: case for case in CASES}
    lines = []
    for name, said in heard.items():
        words = [f"{tool}: {_short(by_name[name], answer)}" for tool, answer in said.items()]
        lines.append(f"| `{name}` | {' | '.join(words)} |")
    return lines


def _short(case: Case, said: Said) -> str:
    blamed = f", blames {sorted(said.blamed)}" if said.blamed else ""
    return f"{grade(case, said).name.lower()}{blamed}{', and what it does' if places(case, said) else ''}"
