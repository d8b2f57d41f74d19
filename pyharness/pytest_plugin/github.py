"""Annotations of GitHub's: each test that ended its process, at the line of C++ or Python where it did."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from pyharness.model.text.visible import visible
from pyharness.pytest_plugin.shown import Death

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pytest

_IN_MESSAGE = {"%": "%25", "\r": "%0D", "\n": "%0A"}
_IN_PROPERTY = {**_IN_MESSAGE, ":": "%3A", ",": "%2C"}


def annotation_lines(terminal: pytest.TerminalReporter) -> Iterator[str]:
    """The lines that GitHub Actions makes annotations of."""
    for report in (*terminal.stats.get("failed", ()), *terminal.stats.get("error", ())):
        if isinstance(report.longrepr, Death):
            crash = report.longrepr.reprcrash
            place = f"file={_escaped(_from_root(crash.path), _IN_PROPERTY)},line={max(crash.lineno, 1)}"
            title = _escaped(visible(report.nodeid), _IN_PROPERTY)
            yield f"::error {place},title={title}::{_escaped(crash.message, _IN_MESSAGE)}"


def _from_root(path: str) -> str:
    """A file as GitHub names it: from the clone's folder."""
    root = os.environ.get("GITHUB_WORKSPACE")
    whole = Path(path).absolute()
    return str(whole.relative_to(root)) if root and whole.is_relative_to(root) else path


def _escaped(text: str, signs: dict[str, str]) -> str:
    return "".join(signs.get(sign, sign) for sign in text)
