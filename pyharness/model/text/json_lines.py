"""One JSON object a line: how the processes talk. What comes from another process may be anything."""

from __future__ import annotations

import json
from typing import Any


def parsed(line: bytes | str) -> dict[str, Any]:
    """The object that a line says; ``ValueError`` for anything else, however deeply nested."""
    try:
        said = json.loads(line)
    except RecursionError as error:
        raise ValueError("nested too deeply for a message") from error
    if not isinstance(said, dict):
        raise ValueError(f"a message is an object, not {type(said).__name__}")  # noqa: TRY004  (of the text, not of ours)
    return said
