"""All ranks in one tree: what is equal is told once, and where ranks part, it branches."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyharness.model.frozen import frozen
from pyharness.model.ranks.prefix_tree import Node, prefix_tree
from pyharness.model.text.ranges import in_ranges
from pyharness.model.text.source_line import source_line
from pyharness.model.text.stack_format import function_text
from pyharness.model.text.styled_line import Line, in_parts
from pyharness.ranks.blame.activity import called, of_rank, users_frames, where
from pyharness.ranks.blame.waits import shapes_text, waits_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from pyharness.model.frames import AutogradNode, Frame
    from pyharness.model.ranks.job import Job
    from pyharness.model.ranks.rank import Rank
    from pyharness.model.text.styled_line import Style
    from pyharness.ranks.blame.waits import Wait

_MAX_NUMBERS = 24
_LEAST_TEXT = 12
_MOST_LINES, _MOST_WAYS = 50, 8


@frozen
class Step:
    """A frame of the user's, or what a rank does in the end."""

    text: str
    place: str = ""
    source: str = ""
    note: str = ""
    style: Style = ""


def tree_lines(job: Job, culprits: Collection[int], width: int | None) -> Iterator[Line]:
    """The tree of the main threads; of very many ways, those of the culprits and of most ranks."""
    waits = {wait.rank: wait for wait in waits_of(job)}
    names = {position: name_of(rank, position) for position, rank in enumerate(job.ranks)}
    tree = prefix_tree((position, path_of(rank, waits)) for position, rank in enumerate(job.ranks))
    wanted = {position for position, rank in enumerate(job.ranks) if rank.number in culprits}
    rows = _branches(tree, wanted, "")
    labels = {members: label(members, names) for members, _, _ in rows}
    column = max(map(len, labels.values()), default=0)
    for members, lead, step in rows[:_MOST_LINES]:
        yield _line(f"{labels[members]:<{column}}  {lead}", step, width)
    if len(rows) > _MOST_LINES:
        yield Line(f"… {len(rows) - _MOST_LINES} more lines; --json has all", "dim")


def name_of(rank: Rank, position: int) -> int:
    """The number that a rank is shown by: those without one come behind all ranks."""
    return rank.number if rank.number is not None else -1 - position


def label(members: tuple[int, ...], names: dict[int, int]) -> str:
    """The ranks of a node in brackets, as ranges; their number where that would be long."""
    numbers = [names[member] for member in members]
    known = in_ranges(number for number in numbers if number >= 0)
    unknown = sum(number < 0 for number in numbers)
    text = ",".join(part for part in (known, f"{unknown} without a rank" if unknown else "") if part)
    return f"[{text if len(text) <= _MAX_NUMBERS else f'{len(numbers)} ranks'}]"


def path_of(rank: Rank, waits: dict[int, Wait]) -> list[Step]:
    """The lines of a rank's main thread, outermost first, and what it does in the end."""
    frames = users_frames(rank.main.frames) if rank.main else []
    last = _last(rank, waits.get(rank.number if rank.number is not None else -1))
    return [*(_of_frame(frame) for frame in reversed(frames)), last]


def _of_frame(frame: Frame) -> Step:
    module = f" ← {frame.fx.module}" if frame.fx and frame.fx.module else ""
    notes = [f"[fx: {frame.fx.node}{module}]"] if frame.fx else []
    notes += [_autograd(frame.autograd)] if frame.autograd else []
    return Step(
        function_text(frame), where(frame), source_line(frame.file, frame.line), " ".join(notes), frame.language
    )


def _last(rank: Rank, wait: Wait | None) -> Step:
    """What a rank does in the end."""
    seen, note = of_rank(rank), _node(rank)
    if wait is None or seen.kind not in {"collective", "store"}:
        what = called(rank.main.frames) if rank.main and seen.kind == "collective" else ""
        text = f"waits in {what}" if what else seen.text
        return Step(f"{text}{f' ({rank.note})' if rank.note else ''}", note=note, style="warn")
    of = shapes_text(wait.collective) if wait.collective else ""
    return Step(f"waits in {wait.what}{f'  {of}' if of else ''}", note=note, style="heading")


def _node(rank: Rank) -> str:
    """The autograd node that the main thread runs."""
    frames = rank.main.frames if rank.main else ()
    return next((_autograd(frame.autograd) for frame in frames if frame.autograd), "")


def _autograd(node: AutogradNode) -> str:
    return f"[autograd: {node.name.removeprefix('torch::autograd::')}]"


Row = tuple[tuple[int, ...], str, Step]


def _rows(node: Node[Step], wanted: set[int], lead: str, below: str) -> list[Row]:
    """A node and what is below it; it is indented where ranks part."""
    own = (node.members, lead, node.label or Step(""))
    if len(node.children) == 1 and node.children[0].members == node.members:
        return [own, *_rows(node.children[0], wanted, below, below)]
    return [own, *_branches(node, wanted, below)]


def _branches(node: Node[Step], wanted: set[int], below: str) -> list[Row]:
    """What is below a node that ranks part at."""
    shown = sorted(node.children, key=lambda child: (wanted.isdisjoint(child.members), -len(child.members)))
    shown = sorted(shown[:_MOST_WAYS], key=lambda child: child.members)
    left = [child for child in node.children if child not in shown]
    parts = node.label is not None or len(node.children) > 1
    rows: list[Row] = []
    for child in shown:
        ends = child is shown[-1] and not left
        lead, further = ("└ " if ends else "├ ", "  " if ends else "│ ") if parts else ("", "")
        rows += _rows(child, wanted, below + lead, below + further)
    if left:
        members = tuple(sorted(member for child in left for member in child.members))
        rows.append((members, below + "└ ", Step(f"{len(left)} more ways", style="dim")))
    return rows


def _line(lead: str, step: Step, width: int | None) -> Line:
    head = f"{step.text}  {step.place}" if step.place else step.text
    room = None if width is None else width - len(lead) - len(head) - 2
    beside = "  ".join(part for part in (step.source, step.note) if part)
    if room is not None and len(beside) > room:
        beside = beside[: room - 1] + "…" if room >= _LEAST_TEXT else ""
    return in_parts((lead, "dim"), (step.text, step.style), (f"  {step.place}" if step.place else "", ""),
                    (f"  {beside}" if beside else "", "dim"))  # fmt: skip
