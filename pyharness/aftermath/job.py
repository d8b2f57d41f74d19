"""Writes down all ranks of a job on this host at the moment when one of them ends, and who is to blame."""

from __future__ import annotations

import json
import os
import socket
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pyharness.aftermath.writing import name_of_ranks, write_files
from pyharness.model.text.source_line import short_path
from pyharness.model.text.styled_line import painted
from pyharness.model.text.visible import say
from pyharness.ranks.blame.judging import judge
from pyharness.ranks.finding import find_from_within
from pyharness.ranks.looking import look
from pyharness.ranks.shown.page import page
from pyharness.ranks.shown.text import job_lines, said
from pyharness.ranks.shown.threads import thread_lines

if TYPE_CHECKING:
    from pyharness.model.ranks.rank import Rank
    from pyharness.model.results.aftermath import Aftermath


def report(folder: str, of: Aftermath) -> None:
    """Write the ranks of the job that a process is of, where nobody does that already."""
    found = find_from_within(of.pid)
    if found is None:
        return
    name = name_of_ranks(of.kind, socket.gethostname(), found.parent or of.pid)
    if not _is_first(Path(folder), name):
        return
    seen = look(found)
    seen = replace(seen, ranks=tuple(_with_its_end(rank, of) for rank in seen.ranks))
    verdict = judge(seen)
    lines = [*job_lines(seen, verdict), *thread_lines(seen, None)]
    text = "".join(f"{painted(line, colour=False)}\n" for line in lines)
    as_json = json.dumps({**seen.to_json(), "verdict": verdict.to_json()})
    file = write_files(Path(folder), name, text, as_json, page(seen, verdict))
    say(f"{said(verdict)}\nall ranks: {short_path(str(file))}")


def _with_its_end(rank: Rank, of: Aftermath) -> Rank:
    """The rank that this is about: its stack is that of its end, and not of how it tells of it."""
    if rank.pid != of.pid or of.kind == "hang" or not of.threads:
        return rank
    about = of.threads[0]
    if of.kind == "crash":
        crashed = replace(about, signal=of.what)
        return replace(rank, threads=tuple(crashed if one.lwp == about.lwp else one for one in rank.threads))
    threads = tuple(about if one.lwp == about.lwp else one for one in rank.threads)
    return replace(rank, threads=threads, raised=of.what, state="raised")


def _is_first(folder: Path, name: str) -> bool:
    """Whether no other rank of the job on this host has begun to write of it."""
    try:
        os.close(os.open(folder / f"{name}.json", os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC))
    except OSError:
        return False
    return True
