"""Builds the engine for one Python and torch, and puts it on the shelf."""

from __future__ import annotations

import json
import os
import shutil
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from pyharness.engine import jobs, shelf, sources
from pyharness.engine.compiler import compiler
from pyharness.host.state import state_errors, write_private
from pyharness.model.errors import HarnessError

if TYPE_CHECKING:
    from pyharness.engine.compiler import Compiler
    from pyharness.engine.facts import Facts


class Progress:
    """What whoever waits for a build is told; this one tells nobody."""

    def __init__(self) -> None:
        self.left = threading.Event()
        """Set, from any thread, once nobody waits any more: a build ends then."""

    def begins(self, facts: Facts, count: int) -> None:
        """A build of ``count`` parts begins."""

    def waits(self, facts: Facts) -> None:
        """Another process builds the same."""

    def has(self, done: int, count: int, part: str) -> None:
        """Another part is done."""

    def ends(self, file: Path) -> None:
        """The engine is there."""


def built(facts: Facts, progress: Progress) -> Path:
    """The engine for ``facts``, built if nobody has built it; ``HarnessError`` where it cannot be."""
    with state_errors():
        name = shelf.key(facts)
        with shelf.locked(name, lambda: progress.waits(facts), progress.left):
            return shelf.find(facts) or _build(facts, name, progress)


def _build(facts: Facts, name: str, progress: Progress) -> Path:
    chosen = compiler(facts)
    try:
        with shelf.being_built(name) as folder:
            _make(chosen, folder, progress)
    except jobs.FailedError as failed:
        raise _does_not_compile(facts, name, failed) from failed
    found = shelf.find(facts)
    if found is None:
        raise HarnessError(f"The engine for {facts.named} was removed as it was built.", "Build it again.")
    progress.ends(found)
    return found


def _make(chosen: Compiler, folder: Path, progress: Progress) -> None:
    """Compile and link in ``folder``, of which only the module and a note stay."""
    facts, parts = chosen.facts, sources.folders()
    module, work = folder / f"{shelf.MODULE}{facts.suffix}", folder / "work"
    work.mkdir(exist_ok=True)
    commands = [chosen.object_of(each, work) for each in parts]
    count, done = len(commands) + 2, 0

    def ended(command: list[str]) -> None:
        nonlocal done
        done += 1
        progress.has(done, count, Path(command[-1]).stem if done < count else module.name)

    def kept(command: list[str]) -> None:
        own = Path(command[-1])
        whole = [*command[:-1], str(own.with_suffix(""))]
        own.rename(whole[-1])
        _mark(whole)
        ended(whole)

    def run(commands: list[list[str]], at_once: int = 1) -> None:
        nonlocal done
        lacking = [command for command in commands if not _is_marked(command)]
        done += len(commands) - len(lacking)
        jobs.run([_apart(command) for command in lacking], at_once, kept, progress.left)

    progress.begins(facts, count)
    run([chosen.headers(work)])
    run(commands, jobs.room())
    jobs.run([chosen.linked(work, module)], 1, ended, progress.left)
    about = {"torch": facts.version, "python": facts.suffix.split("-")[1], "sources": sources.digest()}
    write_private(folder / "about.json", json.dumps(about).encode())
    shutil.rmtree(work, ignore_errors=True)  # a compiler of a builder that was killed may still write into it


def _apart(command: list[str]) -> list[str]:
    """The command with an output of our own: a compiler of a builder that was killed may still write to its."""
    return [*command[:-1], f"{command[-1]}.{os.getpid()}"]


def _mark(command: list[str]) -> None:
    """Note beside a command's output, its last word, that all of it is there."""
    _marker(command).write_text(json.dumps(command), encoding="utf-8")


def _is_marked(command: list[str]) -> bool:
    """Whether a builder who was ended has made this, by the same command."""
    try:
        return _marker(command).read_text(encoding="utf-8") == json.dumps(command)
    except (OSError, ValueError):
        return False


def _marker(command: list[str]) -> Path:
    return Path(f"{command[-1]}.done")


def _does_not_compile(facts: Facts, name: str, failed: jobs.FailedError) -> HarnessError:
    log = shelf.folder() / f"{name}.log"
    write_private(log, failed.said.encode())
    lines = [line.strip() for line in failed.said.splitlines() if "error" in line.lower()]
    first = lines[0] if lines else failed.message
    return HarnessError(
        f"The engine for {facts.named} does not compile: {first}",
        f"All that the compiler said is in {log}. Another compiler is named by $CXX; torch's own needs C++20.",
    )
