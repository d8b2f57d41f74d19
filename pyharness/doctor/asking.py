"""Runs another program that answers with one line of JSON: gdb, or the user's interpreter."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyharness.model.errors import HarnessError

if TYPE_CHECKING:
    from collections.abc import Sequence

MARK = "pyharness-doctor: "
"""What the line of the answer begins with: programs say other things as well."""
_SECONDS = 60
_APART = "import sys; sys.path[:] = filter(None, sys.path)\n"


def ask(command: Sequence[str], folder: Path | None = None, remedy: str = "") -> dict[str, Any]:
    """The answer of ``command``, run in ``folder``; ``HarnessError`` with the end of what it said instead."""
    try:
        ended = subprocess.run(
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_SECONDS,
            check=False,
        )
    except OSError as error:
        raise HarnessError(f"{command[0]} does not run: {error.strerror}.", remedy) from error
    except subprocess.TimeoutExpired as error:
        raise HarnessError(f"{command[0]} gave no answer within {_SECONDS} seconds.", remedy) from error
    for line in reversed(ended.stdout.splitlines()):
        if line.startswith(MARK):
            answer: dict[str, Any] = json.loads(line[len(MARK) :])
            return answer
    raise HarnessError(f"{command[0]} {_ending(ended)}", remedy)


def _ending(ended: subprocess.CompletedProcess[str]) -> str:
    how = f"was ended by signal {-ended.returncode}" if ended.returncode < 0 else f"ended with {ended.returncode}"
    said = (ended.stderr.strip() or ended.stdout.strip()).splitlines()
    return f"{how} and said: {said[-1].strip()[:300]}" if said else f"{how} and said nothing."


def source(name: str) -> str:
    """The text of a file of ``debuggee/``, for ``python -c``: neither its folder nor the current one is on the path."""
    return _APART + (Path(__file__).resolve().parent.parent / "debuggee" / name).read_text(encoding="utf-8")
