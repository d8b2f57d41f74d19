"""The engine for the interpreter that will run a program: found or built before the program needs it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from pyharness.engine import facts as facts_of_this
from pyharness.engine import shelf
from pyharness.engine.build import built
from pyharness.engine.facts import MARK, Facts

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyharness.engine.build import Progress

_PACKAGE = Path(__file__).resolve().parents[1]
_PROBE = Path(__file__).with_name("facts.py")
_PATIENCE = 60.0


def engine(python: str, progress: Progress, env: Mapping[str, str] | None = None) -> Path | None:
    """The engine's file for ``python``; ``None`` where that has no torch, and so needs none.

    ``env`` is added to this process's environment. ``HarnessError`` where the engine cannot be built.
    """
    facts = asked(python, env)
    if facts is None:
        return None
    return beside(facts) or shelf.find(facts) or built(facts, progress)


def asked(python: str, env: Mapping[str, str] | None = None) -> Facts | None:
    """What an interpreter says of itself and its torch; ``None`` where it has no torch, or cannot say."""
    if python == sys.executable and not env:
        return facts_of_this.here()
    try:
        said = subprocess.run(
            [python, str(_PROBE)],
            env={**os.environ, **(env or {})},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_PATIENCE,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    lines = [line for line in said.stdout.splitlines() if line.startswith(MARK)]
    told = json.loads(lines[0].removeprefix(MARK)) if lines else None
    return Facts(*told) if told else None


def beside(facts: Facts) -> Path | None:
    """The engine of a clone's active build, or of ``$PYHARNESS_BUILD``, where it fits."""
    chosen = os.environ.get("PYHARNESS_BUILD")
    folders = [*([_PACKAGE.parent / "build" / chosen] if chosen else []), _PACKAGE]
    files = [folder / f"{shelf.MODULE}{facts.suffix}" for folder in folders]
    first = next((file for file in files if file.is_file()), None)
    return first if first and _minor(shelf.built_for(first)) == _minor(facts.version) else None


def _minor(version: str) -> list[str]:
    """Patch releases of torch keep its C++ interface; minor ones do not."""
    return version.split(".")[:2]
