"""``determinism``: whether a transform gives the same code whatever the order of sets is."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyharness.model import given_numbers
from pyharness.model.crash import CrashedError
from pyharness.model.errors import HarnessError, UsageError
from pyharness.model.results.determinism import Determinism, LineDifference, SetIteration

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

SEEDS = (0, 1, 2, 3)
_HASH_SEEDS = range(1 << 32)
"""What PYTHONHASHSEED takes."""
REPEATS = 4
_TOGETHER = 2
"""Processes at a time."""

_START = Path(__file__).parents[2] / "debuggee" / "start.py"


def determinism(
    transform: str | Callable[..., Any],
    model: str | Callable[..., Any] | None = None,
    *,
    seeds: Sequence[int] = SEEDS,
    repeats: int = REPEATS,
    timeout: float = 600.0,
) -> Determinism:
    """Run ``transform`` on ``model`` in a fresh process for each of ``seeds``, and compare the code that it generates.

    Both are ``MODULE:NAME`` or ``FILE.py:NAME``, or a function or class at the top of a file. ``model`` is a module
    class, or a function that gives a module, called without arguments; the transform takes its GraphModule (or Graph,
    where its parameter says so) and returns one, or changes what it is given and returns ``None``. Without ``model``
    the transform is called without arguments and returns a GraphModule.

    In each process it runs ``repeats`` times, each time with another order for sets of nodes and modules: their hashes
    are addresses, which PYTHONHASHSEED does not change. Places of the user's own files where a run uses the order of a
    set are noted.

    Raises ``UsageError`` for what cannot be named, ``HarnessError`` where the transform fails; ``timeout`` is in
    seconds for each process.
    """
    given_numbers.seconds("timeout", timeout)
    given_numbers.whole("repeats", repeats, range(1, 1 << 31))
    for each in seeds:
        given_numbers.whole("A hash seed", each, _HASH_SEEDS)
    if len(set(seeds)) < 2:
        raise UsageError("Determinism takes two hash seeds at least.", "Give seeds=(0, 1, 2, 3).")
    references = [_reference(each) for each in (transform, model) if each is not None]
    with tempfile.TemporaryDirectory(prefix="pyharness-") as folder, ThreadPoolExecutor(_TOGETHER) as pool:
        one = partial(_run, references, repeats=repeats, folder=Path(folder), timeout=timeout)
        first, *others = dict.fromkeys(seeds)
        found = {first: one(first)}  # alone: what fails need not fail in every process
        found |= zip(others, pool.map(one, others), strict=True)
    difference = _first_difference({seed: each["codes"] for seed, each in found.items()})
    sets = {SetIteration(**place) for each in found.values() for place in each["sets"]}
    runs = sum(len(each["codes"]) for each in found.values())
    by_line = tuple(sorted(sets, key=lambda place: (place.file, place.line, place.text)))
    return Determinism(difference is None, references[0], runs, tuple(seeds), difference, by_line)


def _reference(thing: str | Callable[..., Any]) -> str:
    if isinstance(thing, str):
        return thing
    name, module = getattr(thing, "__qualname__", ""), sys.modules.get(getattr(thing, "__module__", ""))
    file = getattr(module, "__file__", None)
    if not file or not name or "<" in name:
        advice = "Name it as FILE.py:NAME; a lambda or a function inside another has no name there."
        raise UsageError(f"{thing!r} cannot be imported in another process.", advice)
    return f"{file}:{name}"


def _run(references: list[str], seed: int, *, repeats: int, folder: Path, timeout: float) -> dict[str, Any]:
    """What one process found."""
    answer = folder / f"{seed}.json"
    environment = {**os.environ, "PYTHONHASHSEED": str(seed)}
    command = [sys.executable, str(_START), "hashseeds", str(answer), str(seed), str(repeats), *references]
    try:
        ended = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=timeout, check=False)
    except subprocess.TimeoutExpired as error:
        raise HarnessError(f"{references[0]} did not end within {timeout:g} s.", "Give it a larger timeout.") from error
    if not answer.exists():
        if ended.returncode < 0:
            raise CrashedError(references[0], -ended.returncode)
        said = ended.stderr.strip().splitlines()
        raise HarnessError(
            f"{references[0]} ended its process with {ended.returncode}: {said[-1] if said else ''}",
            "Return a value instead of exiting.",
        )
    data: dict[str, Any] = json.loads(answer.read_text(encoding="utf-8"))
    if "error" in data:
        kind = UsageError if data["usage"] else HarnessError
        raise kind(data["error"], data["remedy"])
    return data


def _first_difference(codes: dict[int, list[str]]) -> LineDifference | None:
    """Runs with the same number are compared: what a transform counts from run to run is the same in them."""
    for texts in zip(*codes.values(), strict=True):
        for (seed, text), (other_seed, other) in combinations(zip(codes, texts, strict=True), 2):
            if text != other:
                return _line(text.split("\n"), other.split("\n"), seed, other_seed)
    return None


def _line(first: list[str], second: list[str], seed: int, other: int) -> LineDifference:
    shared = next((n for n, pair in enumerate(zip(first, second)) if pair[0] != pair[1]), None)  # noqa: B905
    index = min(len(first), len(second)) if shared is None else shared
    lines = [each[index] if index < len(each) else "" for each in (first, second)]
    return LineDifference(index + 1, lines[0], lines[1], seed, other)
