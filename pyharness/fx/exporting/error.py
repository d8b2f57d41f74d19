"""What cannot be exported."""

from __future__ import annotations

from pyharness.model.errors import HarnessError


class ExportError(HarnessError):
    """A part of the graph has no form as code; the message names the node or the module."""
