"""A compile report as lines of text for people: each compilation with its files, its end, its guards."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from pyharness.model.text.source_line import short_path
from pyharness.model.text.styled_line import Line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyharness.model.results.compiled import Compilation, CompileReport, Guard, NotCompiled, Place

_TITLE = 8
"""Columns of what a line is."""
_NAME = re.compile(r"\b[LG]\[['\"](\w+)['\"]\]")
_SAME = re.compile(r"___check_(obj|type)_id\((.*), \d+\), type=<class '(.*)'>$")
_KEYS = re.compile(r"DispatchKeySet\([^)]*\), ")
_MEMBERS = re.compile(r"\._(?:modules|parameters|buffers)\[['\"](\w+)['\"]\]")
_IMPORTED = re.compile(r"\b__import_(\w+)")
_KINDS = 4
"""Kinds of guards that are counted apart."""
_ROUTINE = frozenset({"DIMENSION_DYNAMIC_MARKING_GUARD"})
"""Guards that torch sets on every tensor, whatever the code does with it."""


def report_lines(report: CompileReport, *, guards: bool = False) -> Iterator[Line]:
    """The whole report; ``guards``: each of them, instead of their number."""
    if not report.compilations and not report.not_compiled:
        yield Line("torch.compile made nothing with the backend pyharness.")
        return
    for compilation in report.compilations:
        yield from _compilation(compilation, each_guard=guards)
    for failed in report.not_compiled:
        yield from _not_compiled(failed)
    if report.compilations:
        yield from _summary(report)
    for note in report.notes:
        yield Line(note, "faint")


def _compilation(compilation: Compilation, *, each_guard: bool) -> Iterator[Line]:
    yield Line(f"{compilation.name}  {compilation.id}  {_at(compilation.place)}", "heading")
    for failed in compilation.failed_guards:
        yield _field("again", f"{plain(failed.text)}  (guard of {failed.compilation})", "bad")
        yield from _source(failed.place)
    if not compilation.graphs:
        yield _field("graph", "none: nothing to compute before it broke off", "faint")
    for graph in compilation.graphs:
        yield _field(graph.kind, f"{graph.nodes:4} ops  {short_path(graph.file)}")
    if compilation.ended_by:
        yield _field("broken", compilation.ended_by.reason, "bad")
        yield from _source(compilation.ended_by.place)
    if compilation.guards is not None:
        yield from _guards(compilation.guards, each_guard=each_guard)


def _guards(guards: tuple[Guard, ...], *, each_guard: bool) -> Iterator[Line]:
    told = [guard for guard in guards if guard.kind not in _ROUTINE]
    kinds = Counter(guard.kind for guard in told).most_common()
    counts = [f"{count} {kind}" for kind, count in kinds[:_KINDS]] + ["others"] * (len(kinds) > _KINDS)
    yield _field("guards", f"{len(told)}: {', '.join(counts)}", "faint")
    for guard in told if each_guard else ():
        yield _field("", plain(guard.text))
        yield from _source(guard.place)


def _not_compiled(failed: NotCompiled) -> Iterator[Line]:
    yield Line(f"{failed.function}  {failed.id}  {_at(failed.place)}  not compiled", "heading")
    yield _field("because", failed.reason, "bad")
    yield from _source(failed.at)


def _summary(report: CompileReport) -> Iterator[Line]:
    graphs = sum(graph.kind == "captured" for each in report.compilations for graph in each.graphs)
    again = sum(bool(each.failed_guards) for each in report.compilations)
    counts = ((graphs, "graph"), (len(report.breaks), "graph break"), (again, "recompilation"))
    yield Line(", ".join(f"{count} {noun}{'s' * (count != 1)}" for count, noun in counts), "current")


def plain(text: str) -> str:
    """A guard as short as it can be said: ``x`` for ``L['x']``, module paths, no dispatch keys and no addresses."""
    text = _MEMBERS.sub(r".\1", _NAME.sub(r"\1", _KEYS.sub("", text)))
    text = _IMPORTED.sub(lambda found: found[1].replace("_dot_", "."), text)
    return _SAME.sub(lambda found: _same(*found.groups()), text)


def _same(kind: str, what: str, type_name: str) -> str:
    return f"{what} is the same {type_name}" if kind == "obj" else f"type({what}) is {type_name}"


def _field(title: str, text: str, style: str = "") -> Line:
    return Line(f"  {title:{_TITLE}}  {text}", style)  # type: ignore[arg-type]  # one of the styles


def _source(place: Place | None) -> Iterator[Line]:
    if place:
        yield Line(f"  {'':{_TITLE}}  {_at(place)}  {place.source}".rstrip(), "place")


def _at(place: Place) -> str:
    return f"{short_path(place.file)}:{place.line}" if place.file else ""
