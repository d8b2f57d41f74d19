"""The runner: ``python -m benchmarks NAME [--json] [--runs N]``; exits with 1 where a check is missed."""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from pyharness.model.errors import HarnessError

if TYPE_CHECKING:
    from benchmarks.table import Table

NOT_BENCHMARKS = {"__init__", "__main__", "table"}
OF_THE_WHEEL = "install"
"""The one that needs no build of this clone."""


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
    try:
        table = _table(options.name, options.runs)
    except HarnessError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    print(json.dumps(table.to_json(), indent=1) if options.json else "\n".join(table.lines()))
    return 0 if table.holds else 1


def _table(name: str, runs: int | None) -> Table:
    if name != OF_THE_WHEEL and importlib.util.find_spec("pyharness._trap") is None:
        raise HarnessError(
            "This clone is not built: all but `install` measure its debug build.", "Run `make debug-build` first."
        )
    benchmark = importlib.import_module(f"benchmarks.{name}")
    table: Table = benchmark.run(runs) if runs else benchmark.run()
    return table


sys.exit(main())
