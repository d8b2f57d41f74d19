"""Runs every kind of test one after another, and says at the end what passed, what failed and what could not be run.

usage: test_all.py [PART ...]      PART: one of those below, by its name; all of them where none is named
"""

from __future__ import annotations

import os
import runpy
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PATIENCE_WITH_INSTALLERS = 1800


@dataclass(frozen=True)
class Part:
    """One task of the Makefile, and what the machine must have for it."""

    name: str
    words: tuple[str, ...]
    programs: tuple[str, ...] = ()
    prepare: tuple[str, ...] = ()
    """A command that installs what the tests need; where it fails, they could not be run."""


@dataclass(frozen=True)
class Outcome:
    """What became of a part."""

    name: str
    verdict: str
    seconds: float


def parts() -> list[Part]:
    """All of them, the quick ones first."""
    return [
        Part("lint", ("lint",)),
        Part("docs", ("docs",), prepare=("make", "build/docs-venv/installed")),
        Part("tests", ("test",)),
        Part("javascript", ("test-vscode",), ("node", "npm"), ("tests/vscode/lab/setup.sh",)),
        Part("slurm", ("test-slurm",), prepare=("scripts/slurm.sh", ".setup/slurm")),
        Part("stress", ("stress-test",)),
        Part("asan", ("asan-test",)),
        Part("tsan", ("tsan-test",), ("setarch",)),
        *versions(),
    ]


@cache
def versions() -> list[Part]:
    """One part for each pair of Python and torch in the noxfile."""
    pairs = runpy.run_path(str(ROOT / "noxfile.py"))["PAIRS"]
    names = ((python, f"py{python}-torch{torch}") for python, torch in pairs)
    return [Part(name, ("test-versions", f"VERSIONS={name}"), (f"python{python}",)) for python, name in names]


def run(part: Part) -> Outcome:
    """Run one part, its output as it comes."""
    began = time.monotonic()
    verdict = obstacle(part) or verdict_of(["make", "--no-print-directory", *part.words])
    return Outcome(part.name, verdict, time.monotonic() - began)


def obstacle(part: Part) -> str:
    """Why a part cannot be run here; "" where it can."""
    missing = [name for name in part.programs if shutil.which(name) is None]
    if missing:
        return f"could not be run: there is no {' or '.join(missing)}"
    if part.prepare:
        try:
            prepared = subprocess.run(part.prepare, cwd=ROOT, check=False, timeout=PATIENCE_WITH_INSTALLERS)
        except subprocess.TimeoutExpired:
            return (
                f"could not be run: {' '.join(part.prepare)} takes more than {PATIENCE_WITH_INSTALLERS // 60} minutes"
            )
        if prepared.returncode:
            return f"could not be run: {' '.join(part.prepare)} failed, see above"
    return ""


def verdict_of(command: list[str]) -> str:
    """Whether a command passed."""
    # Make hands its own flags down: a part is a run of its own.
    environment = {name: value for name, value in os.environ.items() if name not in {"MAKEFLAGS", "MAKELEVEL", "TESTS"}}
    environment["PYHARNESS_TURN"] = "all"  # what `make test` runs in turn
    done = subprocess.run(command, cwd=ROOT, env=environment, check=False)
    return f"failed ({done.returncode})" if done.returncode else "passed"


def chosen(names: list[str]) -> list[Part]:
    """The parts of these names, or all; "versions" names every pair."""
    pairs = {part.name for part in versions()}
    wanted = {*names} | (pairs if "versions" in names else set())
    unknown = wanted - {"versions"} - {part.name for part in parts()}
    if unknown:
        sys.exit(
            f"There is no {', '.join(sorted(unknown))}: choose {', '.join(part.name for part in parts())} or versions"
        )
    return [part for part in parts() if not names or part.name in wanted]


def main() -> None:
    """Run, then tell."""
    outcomes = []
    for part in chosen(sys.argv[1:]):
        print(f"\n=== {part.name}", flush=True)
        outcomes.append(run(part))
    print()
    for outcome in outcomes:
        print(f"{outcome.name:18} {outcome.seconds / 60:5.1f} min  {outcome.verdict}")
    print("Not a part of it, for they take hours: make fault-test, make fuzz-test.")
    sys.exit(any(outcome.verdict.startswith("failed") for outcome in outcomes))


if __name__ == "__main__":
    main()
