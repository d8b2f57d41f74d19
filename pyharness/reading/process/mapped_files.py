"""The libraries of a process: the ELF files behind what it has mapped, if they are still the ones that it mapped."""

from __future__ import annotations

import errno
import os
from bisect import bisect_right
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from pyharness.host.surroundings import Surroundings
from pyharness.model.frozen import frozen
from pyharness.model.user_code import is_user_binary
from pyharness.reading.binaries.elf import PT_NOTE, Elf, ElfError, base_of, build_id_in, open_elf, read_segments
from pyharness.reading.process import file_changes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from pyharness.reading.process.memory_map import Image

_PAGE = 4096
_MAX_NOTES = 1 << 16
_OUT_OF = {errno.EMFILE, errno.ENFILE, errno.ENOMEM}
"""What keeps this process from opening a file that is there: descriptors, or memory to map it."""


@frozen
class Library:
    """A mapped ELF file; an address in memory is the file's own plus ``bias``."""

    path: str
    bias: int
    start: int
    end: int
    elf: Elf

    def __str__(self) -> str:
        return self.path


class MappedFiles:
    """The images of one process and the files behind them, each opened when it is asked for."""

    def __init__(self, images: list[Image], pid: int, read: Callable[[int, int], bytes]) -> None:
        self.images = images
        self.kept_out: dict[str, str] = {}
        """Paths of libraries that this process had no means to open → what it lacked, in the system's words."""
        self._starts = [image.start for image in images]
        self._pid = pid
        self._read = read
        self._opened: dict[Image, Library | None] = {}

    def image_at(self, address: int) -> Image | None:
        """The mapped file that ``address`` lies in, be it here or not."""
        index = bisect_right(self._starts, address) - 1
        return self.images[index] if index >= 0 and address < self.images[index].end else None

    def at(self, address: int) -> Library | None:
        """The library that ``address`` lies in."""
        found = self.image_at(address)
        return self.open(found) if found else None

    def open(self, image: Image) -> Library | None:
        """The ELF file behind an image, ``None`` where there is none or where it is another one by now."""
        if image not in self._opened:
            self._opened[image] = open_library(image, self._pid, self._read, self.kept_out)
        return self._opened[image]

    def became_of(self, image: Image) -> str:
        """What became of a file that is not here as it was mapped; empty where it is."""
        return "" if self.open(image) else file_changes.of_path(image.path, deleted=image.deleted)

    def named(self, part: str) -> Library | None:
        """The first library whose file name contains ``part``."""
        named = (image for image in self.images if part in image.path.rpartition("/")[2])
        return next((library for image in named if (library := self.open(image))), None)

    def interpreters(self) -> Iterator[Library]:
        """The files that most likely hold CPython, then all: opening hundreds of them takes a while."""
        for part in ("libpython", "python"):
            if likely := self.named(part):
                yield likely
        yield from filter(None, map(self.open, self.images))


def open_library(image: Image, pid: int, read: Callable[[int, int], bytes], kept_out: dict[str, str]) -> Library | None:
    """The ELF file behind an image, as this process or that one sees it; ``kept_out`` gets what could not be opened.

    A file without a build-id is known by its path alone: it is looked for where the process sees it, if that differs.
    """
    root = _root_of(pid)
    for path in (f"{root}{image.path}", image.path) if root else (image.path, f"/proc/{pid}/root{image.path}"):
        try:
            elf = open_elf(path)
        except ElfError as error:
            if isinstance(error.__cause__, OSError) and error.__cause__.errno in _OUT_OF:
                kept_out[image.path] = os.strerror(error.__cause__.errno)
            continue
        if is_same(image, elf, read):
            return Library(image.path, image.start - elf.base, image.start, image.end, elf)
    return None


@lru_cache(maxsize=8)
def _root_of(pid: int) -> str:
    """What comes before a path of the process; where that is another one by now, only the order of tries differs."""
    return Surroundings(pid).root


def is_same(image: Image, elf: Elf, read: Callable[[int, int], bytes]) -> bool:
    """Whether the mapped file is this one: it may have been rebuilt since, and a core may come from elsewhere."""
    if not elf.build_id:
        return not image.deleted
    try:
        header = read(image.start, _PAGE)
        count, offset = int.from_bytes(header[56:58], "little"), int.from_bytes(header[32:40], "little")
        parts = list(read_segments(header, offset, count))
        base = image.start - base_of(parts)  # what is there may not be position-independent where ``elf`` is
        notes = (part for part in parts if part.type == PT_NOTE)
        found = [build_id_in(read(base + part.address, min(part.memory_size, _MAX_NOTES))) for part in notes]
    except OSError:  # a core without the pages of the file
        return not image.deleted
    return elf.build_id in found


def has_lines(elf: Elf) -> bool:
    """Whether a file has a table of lines, and all of the debug information that belongs to it is here."""
    return elf.with_section(".debug_line") is not None and not lacks_dwo(elf)


def lacks_dwo(elf: Elf) -> bool:
    """Whether a ``.dwo`` file is missing: gdb ends what it is doing, a stop or a step, when it looks for one."""
    if elf.with_section(".debug_addr") is None or Path(f"{elf.path}.dwp").exists():
        return False
    from pyharness.reading.binaries.compile_units import compile_units

    return any(unit.dwo and not Path(unit.dwo).exists() for unit in compile_units(elf))


def lost_libraries(files: Iterable[Image], became_of: Callable[[Image], str]) -> dict[str, str]:
    """The user's libraries that are not here as the program had them: path → what became of the file."""
    own = (image for image in files if ".so" in Path(image.path).name and is_user_binary(image.path))
    return {image.path: became for image in own if (became := became_of(image))}


def without_lines(path: str, became: str) -> str:
    """The sentence about a library that is lost."""
    return f"{path} {became}: its frames have no lines."


def not_opened(kept_out: dict[str, str]) -> str:
    """The sentence about libraries that this process had no means to open; empty where it had."""
    names = ", ".join(Path(path).name for path in kept_out)
    return f"{names}: not opened ({', '.join(sorted(set(kept_out.values())))}), see ulimit -n and -v" if names else ""
