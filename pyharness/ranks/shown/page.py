"""A job as one HTML page: the tree to fold, collectives as a table of ranks and numbers, threads on demand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyharness.model.ranks.prefix_tree import Node, prefix_tree
from pyharness.model.text.ranges import in_ranges
from pyharness.model.text.stack_format import format_stack
from pyharness.ranks.blame.activity import of_rank
from pyharness.ranks.blame.waits import call_text, calls_of, group_text, waits_of
from pyharness.ranks.shown.text import said, title
from pyharness.ranks.shown.tree import label, name_of, path_of
from pyharness.report.single_page import single_page

if TYPE_CHECKING:
    from pyharness.model.ranks.collective import Collective, Group
    from pyharness.model.ranks.job import Job
    from pyharness.model.ranks.rank import Rank
    from pyharness.model.ranks.verdict import Verdict
    from pyharness.ranks.shown.tree import Step

_SCRIPTS = (
    "page/units.js",
    "page/theme.js",
    "page/hits.js",
    *(f"ranks_page/{name}.js" for name in ("tree", "matrix", "details", "search", "keys")),
    "page/keyboard.js",
    "ranks_page/main.js",
)
"""In the order of loading."""
_LAST = 24
"""Numbers of each group that the table has."""


def page(job: Job, verdict: Verdict) -> str:
    """The whole file."""
    return single_page(
        "ranks_page",
        ["page/page.css", "ranks_page/ranks.css"],
        _SCRIPTS,
        title=f"{job.name} · pyharness ranks",
        search="function, file, rank, collective",
        data=_data(job, verdict),
    )


def _data(job: Job, verdict: Verdict) -> dict[str, Any]:
    waits = {wait.rank: wait for wait in waits_of(job)}
    names = {position: name_of(rank, position) for position, rank in enumerate(job.ranks)}
    tree = prefix_tree((position, path_of(rank, waits)) for position, rank in enumerate(job.ranks))
    stacks: dict[str, int] = {}
    return {
        "program": job.name,
        "summary": title(job).text,
        "verdict": {"culprits": list(verdict.culprits), "text": said(verdict), "isFault": verdict.is_fault},
        "tree": [_node(child, names) for child in tree.children],
        "groups": [_group(group, job) for group in _groups(job)],
        "ranks": [_rank(rank, stacks) for rank in job.ranks],
        "stacks": list(stacks),
    }


def _node(node: Node[Step], names: dict[int, int]) -> dict[str, Any]:
    step = node.label
    return {
        "ranks": label(node.members, names).strip("[]"),
        "members": list(node.members),
        "text": step.text if step else "",
        "place": step.place if step else "",
        "source": step.source if step else "",
        "note": step.note if step else "",
        "children": [_node(child, names) for child in node.children],
    }


def _rank(rank: Rank, stacks: dict[str, int]) -> dict[str, Any]:
    named = f"rank {rank.number}" if rank.number is not None else f"process {rank.pid}"
    threads = [(f"{rank.command} of {rank.pid}", rank)] + [(f"child process {one.pid}", one) for one in rank.workers]
    shown = []
    for position, (of, process) in enumerate(threads):
        for thread in process.threads if position == 0 else process.threads[:1]:
            text = "\n".join(line.text for line in format_stack(thread.frames))
            shown.append([f'"{thread.name}"' if position == 0 else of, stacks.setdefault(text, len(stacks))])
    return {
        "number": rank.number,
        "name": named,
        "doing": of_rank(rank).sentence,
        "about": f"{rank.command}, process {rank.pid} on {rank.host}, torch {rank.torch or 'none'}",
        "threads": shown,
    }


def _groups(job: Job) -> list[Group]:
    """Each group once, by its name."""
    found: dict[str, Group] = {}
    for rank in job.ranks:
        for group in rank.groups:
            found.setdefault(group.name, group)
    return [group for group in found.values() if any(calls_of(rank, group.name) for rank in job.ranks)]


def _group(group: Group, job: Job) -> dict[str, Any]:
    calls = {
        position: {one.sequence: one for one in calls_of(rank, group.name)} for position, rank in enumerate(job.ranks)
    }
    numbers = sorted({number for made in calls.values() for number in made})[-_LAST:]
    common = {
        number: _commonest([made[number].operation for made in calls.values() if number in made]) for number in numbers
    }
    rows: dict[tuple[tuple[str, str], ...], list[int]] = {}
    members = set(group.ranks)
    for position, rank in enumerate(job.ranks):
        if members and rank.number not in members:
            continue
        cells = tuple(_cell(calls[position].get(number), common[number]) for number in numbers)
        rows.setdefault(cells, []).append(position)
    return {
        "name": group_text(group),
        "numbers": numbers,
        "rows": [_row(cells, positions, job) for cells, positions in rows.items()],
    }


def _commonest(operations: list[str]) -> str:
    return max(operations, key=operations.count)


def _cell(one: Collective | None, common: str) -> tuple[str, str]:
    """The state of a cell, and what was called."""
    if one is None:
        return "absent", ""
    if one.operation != common:
        return "other", call_text(one)
    return "over" if one.is_over else "open", call_text(one)


def _row(cells: tuple[tuple[str, str], ...], positions: list[int], job: Job) -> dict[str, Any]:
    numbers = [job.ranks[position].number for position in positions]
    return {
        "ranks": in_ranges(number for number in numbers if number is not None) or f"{len(positions)} processes",
        "members": positions,
        "cells": [{"state": state, "text": text.partition(" ")[0], "title": text} for state, text in cells],
    }
