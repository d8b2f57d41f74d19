"""The result of a search for the first bad pass as lines of text for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyharness.model.text.source_line import short_path
from pyharness.model.text.styled_line import Line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyharness.model.results.bad_pass import BadPass, Script, Shrunk
    from pyharness.model.text.styled_line import Style

_TITLE = 9
"""Columns of what a line is about."""


def bad_pass_lines(bad: BadPass) -> Iterator[Line]:
    """Which pass and why, how sure that is, what it changes, the shrunk graph, the script."""
    yield Line(f"The first bad pass is {bad.name}, {bad.index + 1} of {bad.total}: {bad.reason}", "bad")
    if bad.origin:
        yield _titled("pass", short_path(bad.origin))
    yield _titled("found", f"good after {bad.index}, bad after {bad.index + 1}; {bad.runs} runs", "faint")
    if bad.failures < bad.samples:
        often = f"{bad.failures} of {bad.samples} runs fail: the pass makes another graph of the same one each time"
        yield _titled("unsteady", often, "bad")
    if bad.hidden_by:
        yield _titled("hidden", f"the module is good again after {bad.hidden_by}")
    if bad.verdict is not None and bad.verdict.first:
        yield from list(bad.verdict.lines())[1:]
    yield from _change("change", bad.change, raised=bad.raised)
    if bad.shrunk:
        yield from _shrunk(bad.shrunk, bad.calls, raised=bad.raised)
    if bad.script:
        yield from _script(bad.script, bad.shrunk.node if bad.shrunk else None)
    for note in bad.notes:
        yield _titled("note", note, "faint")


def _titled(title: str, text: str, style: Style = "") -> Line:
    return Line(f"  {title:{_TITLE}}  {text}", style)


def _change(title: str, change: tuple[str, ...], *, raised: bool) -> Iterator[Line]:
    if raised:
        return
    if not change:
        yield _titled(title, "none in the generated code: parameters, modes or attributes changed")
        return
    yield _titled(title, "in the generated code")
    for text in change:
        yield Line(f"  {'':{_TITLE}}  {text}", _style(text))


def _style(text: str) -> Style:
    styles: dict[str, Style] = {"+": "good", "-": "bad", "@": "faint"}
    return styles.get(text[:1], "")


def _shrunk(shrunk: Shrunk, calls: int, *, raised: bool) -> Iterator[Line]:
    yield _titled("shrunk", f"from {_calls(calls)} to {shrunk.calls}; {shrunk.tried} smaller graphs tried")
    for text in shrunk.code.split("\n"):
        yield Line(f"  {'':{_TITLE}}  {text}".rstrip())
    yield from _change("change", shrunk.change, raised=raised)


def _calls(count: int) -> str:
    return f"{count} call{'s' * (count != 1)}"


def _script(script: Script, node: str | None) -> Iterator[Line]:
    file = short_path(script.file)
    said = "exits with 1 while the pass fails" if script.fails else f"does not fail: {script.said}"
    yield _titled("script", f"python {file}  {said}", "place" if script.fails else "bad")
    if script.fails and node:
        yield _titled("", f"pyharness step {file} --at fx:{node} --into", "place")
