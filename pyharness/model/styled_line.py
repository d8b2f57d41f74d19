"""A line of text for people and what it is; whoever prints it knows the colours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Style = Literal["", "heading", "place", "current", "faint", "good", "warn", "bad"]


@dataclass(frozen=True)
class Line:
    """One line and what it is."""

    text: str
    style: Style = ""
