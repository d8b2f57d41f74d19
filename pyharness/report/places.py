"""Where a call is, as a person says it."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING

from pyharness.model.text.source_line import short_path

if TYPE_CHECKING:
    from pyharness.model.results.trace import Call


def shown_file(call: Call) -> str:
    """The file; of a generated one its name, which tells it from all others."""
    return PurePath(call.file).name if call.node is not None else short_path(call.file)
