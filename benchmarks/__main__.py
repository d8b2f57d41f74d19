"""The runner: ``python -m benchmarks NAME [--json] [--runs N]``; exits with 1 where a check is missed."""

from __future__ import annotations

import argparse
import importlib
import json
import sys
from pathlib import Path

NOT_BENCHMARKS = {"__init__", "__main__", "table"}


def known() -> list[str]:
    """Every benchmark: one file each in this folder."""
    return sorted(path.stem for path in Path(__file__).parent.glob("*.py") if path.stem not in NOT_BENCHMARKS)


def main() -> int:
    """Run one benchmark and print its table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("name", choices=known())
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--runs", type=int, help="runs of every subject (default: the benchmark's own number)")
    options = parser.parse_args()
    benchmark = importlib.import_module(f"benchmarks.{options.name}")
    table = benchmark.run(options.runs) if options.runs else benchmark.run()
    print(json.dumps(table.to_json(), indent=1) if options.json else "\n".join(table.lines()))
    return 0 if table.holds else 1


sys.exit(main())
