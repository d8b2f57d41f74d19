"""Shows how far the build of an engine is, on stderr: a line that moves on a terminal, one a part elsewhere."""

from __future__ import annotations

import shutil
import sys
from typing import TYPE_CHECKING

from pyharness.cli.kit import output
from pyharness.engine.build import Progress
from pyharness.host.missing import no_interpreter

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from pyharness.engine.facts import Facts


class Shown(Progress):
    """Tells the person before the command line."""

    def __init__(self) -> None:
        super().__init__()
        self.built = False

    def begins(self, facts: Facts, count: int) -> None:
        """Say what is built, and that it is once only."""
        output.note(f"building the engine for {facts.named}, once: {count} parts, a minute or two.")

    def waits(self, facts: Facts) -> None:
        """Say who builds it."""
        output.note(f"another process builds the engine for {facts.named}: waiting for it.")

    def has(self, done: int, count: int, part: str) -> None:
        """Count the parts."""
        output.progress.count(f"[{done}/{count}] {part}")

    def ends(self, file: Path) -> None:
        """Say where it is."""
        self.built = True
        output.note(f"built {file}")


def interpreter(python: str) -> str:
    """The path of the interpreter that was named, or of this one."""
    found = shutil.which(python or sys.executable)
    if found is None:
        raise no_interpreter(python)
    return found


def have_engine(python: str, env: Mapping[str, str] | None = None) -> None:
    """Build what a program under ``python`` will need, before it starts; ``env`` is added to its environment."""
    from pyharness.engine import need

    need.engine(interpreter(python), Shown(), env)
