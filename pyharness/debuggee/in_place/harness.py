"""The debugger that started this program, as `pyharness run` says it."""

from __future__ import annotations

import os
from typing import ClassVar


class Harness:
    """What is known of it, here and in no variable that the program would see."""

    python: ClassVar[str] = os.environ.pop("PYHARNESS_PROMPT", "")
    """The interpreter that has the debugger; empty where the program was started without it."""
