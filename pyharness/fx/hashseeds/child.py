"""The fresh process: runs a transform several times, sets in an order of this process, and writes what came of it."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch.fx import Graph, Node

from pyharness.fx.hashseeds.references import applied, is_pass, made_by, resolve
from pyharness.fx.hashseeds.uses import SetUses
from pyharness.fx.theirs import theirs
from pyharness.model.errors import HarnessError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

_SPREAD = 0x9E3779B97F4A7C15
"""2**64 divided by the golden ratio: multiples of it spread over all bits (Knuth, TAOCP 3, 6.4)."""


def main() -> int:
    """Write a JSON object to the file that the command line names first."""
    answer, seed, repeats, transform, *model = sys.argv[1:]
    found = _found(int(seed), int(repeats), transform, "".join(model))
    Path(answer).write_text(json.dumps(found), encoding="utf-8")
    return 0


def _found(seed: int, repeats: int, transform: str, model: str) -> dict[str, Any]:
    uses = SetUses()
    try:
        _shake(seed)
        uses.watch()
        function, maker = resolve(transform), resolve(model) if model else None
        kept: list[object] = []  # so that no node takes the address of another's in an earlier run
        codes = [_code(function, maker, kept, uses) for _ in range(repeats)]
    except HarnessError as error:
        return {"error": error.message, "remedy": error.remedy, "usage": isinstance(error, UsageError)}
    return {"codes": codes, "sets": [asdict(each) for each in uses.found]}


def _code(function: Callable[..., Any], maker: Callable[..., Any] | None, kept: list[object], uses: SetUses) -> str:
    torch.manual_seed(0)
    if maker is None:
        if is_pass(function):
            raise UsageError("It must be given a GraphModule.", "Say on which model=... it works.")
        with uses, theirs(function):
            result = function()
    else:
        given = made_by(maker)
        with uses:
            result = applied(function, given)
        kept.append(given)
    kept.append(result)
    if not isinstance(getattr(result, "graph", None), Graph):
        raise UsageError(
            f"It returns a {type(result).__name__}, not a GraphModule.", "Say on which model=... it works."
        )
    return str(result.graph.python_code(root_module="self").src)


def _shake(salt: int) -> None:
    """Give nodes and modules, which hash by address, hashes that are in another order in each process."""
    factor = (_SPREAD * (salt + 1)) | 1

    def shaken(self: object) -> int:
        return ((id(self) >> 4) * factor >> 20) & sys.maxsize

    for cls in (Node, torch.nn.Module):
        cls.__hash__ = shaken  # type: ignore[method-assign]
