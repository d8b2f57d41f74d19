"""A process that runs, looked at from outside: what ``/proc`` says, and its memory; nothing stops it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from pyharness.debugger.starting import processes
from pyharness.doctor.registry import Registry
from pyharness.host import handles
from pyharness.host.surroundings import Surroundings
from pyharness.reading.binaries.elf import Elf, ElfError, open_elf
from pyharness.reading.process import memory_map
from pyharness.reading.process.memory import Memory

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyharness.host.handles import Handle
    from pyharness.reading.process.memory_map import Image


@dataclass(frozen=True)
class Loaded:
    """A mapped ELF file; an address in memory is the file's own plus ``bias``."""

    path: str
    bias: int
    elf: Elf


class LiveProcess:
    """What is read once; ``handle`` where ``pyharness run`` started it."""

    def __init__(self, pid: int, handle: Handle | None) -> None:
        self.pid, self.handle = pid, handle
        self.proc = Path(f"/proc/{pid}")
        self.surroundings = Surroundings(pid)

    @cached_property
    def status(self) -> dict[str, str]:
        """The lines of its ``status``."""
        return processes.status(self.pid)

    @property
    def command(self) -> str:
        """The command line of the process."""
        return processes.command_line(self.pid) or self.status.get("Name", "?")

    @property
    def root(self) -> str:
        """What comes before a path of its own to make it one of ours; empty where both see the same files."""
        return self.surroundings.root

    @cached_property
    def images(self) -> list[Image]:
        """The files that it has mapped; ``PermissionError`` where they may not be seen."""
        text = (self.proc / "maps").read_text(encoding="utf-8", errors="surrogateescape")
        return memory_map.images(memory_map.from_proc(text, self.surroundings.above))

    def loaded(self) -> Iterator[Loaded]:
        """The ELF files among them that are still there."""
        for image in self.images:
            elf = None if image.deleted else self.open(image.path)
            if elf:
                yield Loaded(image.path, image.start - elf.base, elf)

    def open(self, path: str) -> Elf | None:
        """One of its files, ``None`` where it is no ELF file."""
        try:
            return open_elf(self.root + path)
        except ElfError:
            return None

    def memory(self) -> Memory:
        """The memory of the process; ``PermissionError`` where a debugger would not be let in either.

        The kernel asks the same questions before it opens this file and before it lets a debugger attach.
        """
        file = os.open(self.proc / "mem", os.O_RDONLY | os.O_CLOEXEC)

        class _Reader:
            def __del__(self) -> None:
                os.close(file)

            def __call__(self, address: int, size: int) -> bytes:
                return os.pread(file, size, address)

        return Memory(_Reader())


process_checks: Registry[LiveProcess] = Registry()


def find_process(target: str) -> LiveProcess:
    """The process that a handle, a process id or a part of a command line names; ``UsageError`` where none is meant."""
    live = handles.live()
    pid = next((each.pid for each in live if each.name == target), None) or processes.find(target)
    return LiveProcess(pid, next((each for each in live if each.pid == pid), None))
