"""Reports of what is found while the program runs: on its stderr, in one piece, for other ranks print theirs."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from pyharness.model.text.styled_line import painted

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pyharness.model.text.styled_line import Line


def text_of(lines: Iterable[Line]) -> str:
    """The lines without colours, each ended."""
    return "".join(f"{painted(line, colour=False)}\n" for line in lines)


def tell(lines: Iterable[Line]) -> None:
    """Print them to stderr."""
    print(text_of(lines), end="", file=sys.stderr, flush=True)
