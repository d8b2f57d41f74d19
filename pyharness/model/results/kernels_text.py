"""Kernels as lines of text for people: each with its nodes, modules, loops; or with every line and its node."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyharness.model.text.ranges import in_ranges
from pyharness.model.text.source_line import short_path
from pyharness.model.text.styled_line import Line, in_parts

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pyharness.model.results.kernels import CompiledKernel, CompiledWrapper, MappedKernelLine

_NO_MAP = "no map: torch had this code in its cache. TORCHINDUCTOR_FORCE_DISABLE_CACHES=1 has it generated again."
_MOST = 72
"""Columns of C++ that are shown."""
_UNITS = ("B", "KiB", "MiB", "GiB", "TiB")


def wrapper_lines(wrappers: Sequence[CompiledWrapper], *, each_line: bool = False) -> Iterator[Line]:
    """All graphs with their kernels; ``each_line``: every mapped line of the C++."""
    for wrapper in wrappers:
        yield Line(f"{wrapper.id or 'ahead of time'}  {wrapper.kind or 'graph'}  {short_path(wrapper.file)}", "heading")
        if not wrapper.mapped:
            yield Line(f"  {_NO_MAP}", "warn")
        for kernel in wrapper.kernels:
            yield from _kernel(kernel, each_line=each_line)


def _kernel(kernel: CompiledKernel, *, each_line: bool) -> Iterator[Line]:
    facts = [" + ".join(kernel.loops) or "no loop"]
    facts += [_size(kernel.bytes)] if kernel.bytes is not None else []
    facts += (
        [f"called {kernel.calls} times"]
        if kernel.calls > 1
        else [f"ran in {_time(each)}" for each in kernel.times if each]
    )
    yield in_parts(("  ", ""), (kernel.name, "native"), (f"  {', '.join(facts)}", "faint"))
    if kernel.file:
        yield Line(f"    {short_path(kernel.file)}", "place")
    for call in range(1, kernel.calls + 1):
        lines = [each for each in kernel.lines if each.call == call]
        if kernel.calls > 1 and lines:
            took = kernel.times[call - 1] if call <= len(kernel.times) else None
            yield Line(f"    call {call}{f', ran in {_time(took)}' if took else ''}", "faint")
        yield from _each(lines) if each_line else _nodes(lines)


def _nodes(mapped: Sequence[MappedKernelLine]) -> Iterator[Line]:
    """A row for each node: where it comes from, and the lines that work for it."""
    rows: dict[str, list[MappedKernelLine]] = {}
    for line in mapped:
        rows.setdefault(line.node, []).append(line)
    names = {node: _name(lines[0]) for node, lines in rows.items()}
    modules = {node: lines[0].module or "" for node, lines in rows.items()}
    places = {node: _place(lines[0]) for node, lines in rows.items()}
    widths = [max(map(len, each.values()), default=0) for each in (names, modules, places)]
    for node, lines in rows.items():
        numbers = in_ranges((each.line for each in lines), ", ")
        yield in_parts(
            (f"    {names[node]:{widths[0]}}", "fx"),
            (f"  {modules[node]:{widths[1]}}", ""),
            (f"  {places[node]:{widths[2]}}", "place"),
            (f"  lines {numbers}", "faint"),
        )


def _each(lines: Sequence[MappedKernelLine]) -> Iterator[Line]:
    width = min(_MOST, max((len(each.text) for each in lines), default=0))
    for each in lines:
        text = each.text if len(each.text) <= width else f"{each.text[: width - 1]}…"
        held = f" = {each.holds[0]}" if each.holds else f" reads {each.reads}" if each.reads else ""
        yield in_parts(
            (f"    {each.line:4} ", "faint"),
            (f"{text:{width}}", "native"),
            (f"  {_name(each)}{held}", "fx"),
            (f"  {each.module or ''}  {_place(each)}".rstrip(), "place"),
        )


def _name(line: MappedKernelLine) -> str:
    """``erf ← gelu``: the node, and what the user called."""
    same = line.captured is None or line.captured == line.node
    return line.node if same else f"{line.node} ← {line.captured}"


def _place(line: MappedKernelLine) -> str:
    file, _, number = (line.origin or "").rpartition(":")
    return f"{short_path(file)}:{number}" if file else ""


def _time(nanoseconds: float) -> str:
    for unit in ("ns", "us", "ms"):
        if nanoseconds < 1000:
            return f"{nanoseconds:.3g} {unit}"
        nanoseconds /= 1000
    return f"{nanoseconds:.3g} s"


def _size(count: float) -> str:
    unit = 0
    while count >= 1024 and unit < len(_UNITS) - 1:
        count /= 1024
        unit += 1
    return f"{count:.0f} {_UNITS[unit]}" if unit == 0 else f"{count:.3g} {_UNITS[unit]}"
