"""The tools, asked once each about a job that hangs."""

from __future__ import annotations

import html
import json
import os
import re
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.blaming.grade import Said

if TYPE_CHECKING:
    from collections.abc import Sequence

PAGES = ("stacks", "pyspy_dump?subprocesses=1", "fr_trace", "fr_trace_json")
LOOKS = 3


def pyharness_ranks(pids: Sequence[int], home: str) -> Said:
    """The verdict; where that says to look again, the next one, up to three."""
    command = [str(Path(sys.executable).with_name("pyharness")), "ranks", str(pids[0]), "--json"]
    for _ in range(LOOKS):
        done = _run(command, os.environ | {"PYHARNESS_HOME": home})
        verdict = json.loads(done.partition("\n\n")[0] or "{}").get("verdict", {})
        if verdict.get("culprits") and "has not come yet" not in verdict["sentence"]:
            return Said(frozenset(verdict["culprits"]), verdict["sentence"], {}, done)
        time.sleep(5)
    return Said(whole=done)


def py_spy(pids: Sequence[int], command: str) -> Said:
    """The stacks of each rank with variables and child processes, and with native frames where that works."""
    by_rank = {}
    for rank, pid in enumerate(pids):
        words = [command, "dump", "--locals", "--subprocesses", "--pid", str(pid)]
        native = _run([*words, "--native"])
        by_rank[rank] = native if "Thread" in native else native + _run(words)
    return Said(by_rank=by_rank, whole="\n".join(f"== rank {rank} ==\n{text}" for rank, text in by_rank.items()))


def debug_server(port: int) -> Said:
    """The four pages that tell of ranks and collectives."""
    pages = {page: _page(f"http://localhost:{port}/{page}") for page in PAGES}
    by_rank: dict[int, str] = {}
    for text in pages.values():
        parts = re.split(r"<h2>Rank (\d+):", text)
        for rank, part in zip(parts[1::2], parts[2::2], strict=True):
            by_rank[int(rank)] = by_rank.get(int(rank), "") + part
    return Said(_blamed(pages["fr_trace"]), pages["fr_trace"], by_rank, "\n".join(pages.values()))


def analyzer(dumps: Path, packages: str) -> Said:
    """What ``torchfrtrace`` says of the dumps; and its table of all calls (``-j -v``), a column for each rank."""
    command = [sys.executable, "-m", "torch.distributed.flight_recorder.fr_trace", str(dumps), "--prefix", "rank_"]
    environment = os.environ | {"PYTHONPATH": packages}
    said, table = _run(command, environment), _run([*command, "-j", "-v"], environment)
    return Said(_blamed(said), said, _columns(table), said + table)


def _blamed(text: str) -> frozenset[int]:
    missing = re.findall(r"missing ranks: \{([\d, ]+)\}", text)
    silent = re.findall(r"^\s*Rank (\d+): \w*Error", text, re.MULTILINE)
    culprits = re.findall(r"Culprit rank (\d+)", text)
    return frozenset(int(rank) for rank in [*culprits, *silent, *re.findall(r"\d+", " ".join(missing))])


def _columns(table: str) -> dict[int, str]:
    lines = table.splitlines()
    ruler = next((number for number, line in enumerate(lines) if re.fullmatch(r"[- ]*--[- ]*", line)), None)
    if not ruler:
        return {}
    spans = [match.span() for match in re.finditer(r"-+", lines[ruler])]
    ranks = [int(rank) for rank in re.findall(r"Rank (\d+)", lines[ruler - 1])]
    return {
        rank: "\n".join(line[slice(*span)] for line in lines[ruler:]) for rank, span in zip(ranks, spans, strict=True)
    }


def _page(address: str) -> str:
    try:
        with urllib.request.urlopen(address, timeout=60) as answer:  # noqa: S310
            return html.unescape(answer.read().decode()).partition("<section")[2]
    except urllib.error.HTTPError as error:
        return f"{address}: {error}"
    except OSError as error:
        return f"{address}: {error}"


def _run(command: list[str], environment: dict[str, str] | None = None) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, timeout=60)
    except subprocess.TimeoutExpired:
        return "no answer in 60 s"
    return f"{done.stdout}\n\n{done.stderr}"
