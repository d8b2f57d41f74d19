"""A trace as one HTML page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyharness.report.page_data import page_data
from pyharness.report.single_page import single_page

if TYPE_CHECKING:
    from pyharness.model.results.trace import Trace

_SCRIPTS = (
    "data.js",
    "units.js",
    "theme.js",
    "colours.js",
    "layout.js",
    "view.js",
    "draw.js",
    "overview.js",
    "details.js",
    "legend.js",
    "search.js",
    "pointer.js",
    "keys.js",
    "keyboard.js",
    "main.js",
)
"""In the order of loading: each uses only what comes before it, ``main.js`` starts."""


def page(trace: Trace) -> str:
    """The whole file."""
    return single_page(
        "page",
        ["page/page.css"],
        [f"page/{name}" for name in _SCRIPTS],
        title=f"{trace.program or 'recording'} · pyharness trace",
        search="op, node, module, line",
        data=page_data(trace),
    )
