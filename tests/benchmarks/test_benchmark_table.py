"""The benchmark runner's contract: its JSON, its checks, and subjects timed in turns."""

import json
import shutil
import subprocess
import sys

from benchmarks.table import Check, Row, Table, interleave, ratio, rows_of
from kit.paths import ROOT


def test_json_has_the_keys_of_the_contract():
    table = Table(
        "ops", (Row("case", "ours", 1.5, "ms", 3),), (Check("fast", 2.0, 1.0), Check("alike", 9, 8, at_least=True))
    )
    assert json.loads(json.dumps(table.to_json())) == {
        "benchmark": "ops",
        "rows": [{"case": "case", "subject": "ours", "median": 1.5, "unit": "ms", "runs": 3}],
        "checks": [
            {"what": "fast", "measured": 2.0, "limit": 1.0, "holds": False},
            {"what": "alike", "measured": 9, "limit": 8, "holds": True},
        ],
        "not_available": [],
    }
    assert not table.holds
    assert [line.split()[0] for line in table.lines()] == ["case", "MISSED", "holds"]


def test_a_peer_that_is_missing_is_named_and_its_check_does_not_hold():
    table = Table("dap", (), (Check("ours / its", None, 1.2),), ("gdb 16 is not available: offline",))
    assert table.to_json()["checks"] == [{"what": "ours / its", "measured": None, "limit": 1.2, "holds": False}]
    assert list(table.lines()) == [
        "gdb 16 is not available: offline",
        "MISSED  ours / its: not measured (limit ≤ 1.2)",
    ]
    assert not table.holds


def test_subjects_take_turns():
    def measure():
        calls = []
        names = ("a", "b", "c")
        seconds = interleave({name: lambda name=name: calls.append(name) for name in names}, runs=23, warmups=1)
        assert {name: len(times) for name, times in seconds.items()} == {"a": 23, "b": 23, "c": 23}
        return ["".join(calls[start : start + 3]) for start in range(0, len(calls), 3)]

    rounds = measure()
    assert len(rounds) == 24
    assert {"".join(sorted(each)) for each in rounds} == {"abc"}, "each once in a round"
    assert {each[0] for each in rounds} == {each[2] for each in rounds} == {"a", "b", "c"}, "in other orders"
    assert measure() == rounds, "the same in each run"


def test_a_ratio_is_taken_within_a_round():
    seconds = {"ours": [1.0, 10.0, 100.0], "peer": [2.0, 20.0, 200.0]}
    assert ratio(seconds, "ours", "peer") == 0.5
    assert rows_of("case", seconds, "ms")[0] == Row("case", "ours", 10_000.0, "ms", 3)


def test_an_unknown_benchmark_is_answered_with_those_that_are_there():
    command = [sys.executable, "-m", "benchmarks", "opz"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "ops" in done.stderr


def test_a_clone_that_is_not_built_is_told_so(tmp_path):
    for package in ("benchmarks", "pyharness"):
        shutil.copytree(ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("*.so", "__pycache__"))
    command = (sys.executable, "-S", "-m", "benchmarks", "stack")
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("error: This clone is not built")
    assert done.stderr.endswith("\nRun `make debug-build` first.\n")
