"""Counts the tests that failed beside others and are run again, alone; and says which need that too often.

usage: run_again.py [FAILED [RECORD]]      after `make test`

FAILED is where pytest remembers what failed, RECORD where the last ten runs are.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FAILED = ROOT / "build" / "pytest" / "v" / "cache" / "lastfailed"
RECORD = ROOT / "build" / "ci" / "run-again.json"
RUNS = 10
"""How many runs are remembered."""
TOO_OFTEN = 2


def failed(file: Path) -> list[str]:
    """The tests that failed in the run that has just ended."""
    return sorted(json.loads(file.read_text(encoding="utf-8"))) if file.exists() else []


def remembered(record: Path, now: list[str]) -> list[list[str]]:
    """What was run again in the last runs, with this one."""
    before = json.loads(record.read_text(encoding="utf-8")) if record.exists() else []
    runs: list[list[str]] = [*before, now][-RUNS:]
    record.parent.mkdir(parents=True, exist_ok=True)
    record.write_text(json.dumps(runs, indent=1), encoding="utf-8")
    return runs


def main(file: Path = FAILED, record: Path = RECORD) -> None:
    """Count and print."""
    now = failed(file)
    runs = remembered(record, now)
    print(f"To be run again, alone: {len(now)}")
    for name in now:
        print(f"  {name}")
    print(f"In the last {len(runs)} runs that this machine remembers: {', '.join(str(len(run)) for run in runs)}.")
    for name, times in Counter(name for run in runs for name in run).most_common():
        if times >= TOO_OFTEN:
            print(f"MEND  {name}: run again in {times} of the last {len(runs)} runs")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
