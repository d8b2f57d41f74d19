"""docs/reference/gdb.md: the ph- commands and functions, as gdb itself lists and explains them."""

from __future__ import annotations

import inspect
import json
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from markdown import cell, code, fenced, table

from pyharness.model.errors import HarnessError

if TYPE_CHECKING:
    from collections.abc import Iterator

_LOAD = Path(__file__).parents[2] / "pyharness" / "ingdb" / "load.py"
_ASK = Path(__file__).with_name("ask_gdb.py")


def page() -> Iterator[str]:
    """The page."""
    known = _ask()
    yield from (
        "# gdb commands",
        "",
        "What `help COMMAND` says in a gdb that has our commands: by `pyharness attach`, or by sourcing what",
        "`pyharness gdb-script` prints. How they go together is in",
        "[gdb that knows Python, torch.fx and tensors](../gdb.md).",
        "",
    )
    yield from table(("command", "does"), ((_link(name), cell(_summary(text))) for name, text in known.items()))
    for name, text in known.items():
        yield from (f"## {name.removeprefix('$')}", "")
        yield from fenced(text.splitlines())


def _ask() -> dict[str, str]:
    """Name of each command and function → its help."""
    words = ["gdb", "-nx", "-batch", "-ex", f"source {_LOAD}", "-x", str(_ASK)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)
    for line in done.stdout.splitlines():
        if line.startswith("ASKED "):
            return {name: inspect.cleandoc(text) for name, text in json.loads(line.removeprefix("ASKED ")).items()}
    raise HarnessError(
        f"gdb does not list our commands: {done.stderr[-500:]}", "`pyharness doctor` says what it lacks."
    )


def _summary(text: str) -> str:
    first = text.partition("\n\n")[0].partition("\n")[0]
    return first.replace("<", "&lt;")


def _link(name: str) -> str:
    return f"[{code(name)}](#{name.removeprefix('$')})"
