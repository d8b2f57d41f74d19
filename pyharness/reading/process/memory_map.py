"""Which files a process has mapped and where: the lines of ``/proc/PID/maps``, or gdb's for a core file."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from pyharness.model.frozen import frozen

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    Parse = Callable[[str], "Iterator[Mapping]"]

_GDB_LINE = re.compile(
    r"^\s*0x([0-9a-f]+)\s+0x([0-9a-f]+)\s+0x[0-9a-f]+\s+0x([0-9a-f]+)\s+(?:[-rwxps]{4}\s+)?(/.*?)\s*$"
)
_PROC_LINE = re.compile(r"^([0-9a-f]+)-([0-9a-f]+) ..(.)\S* \S+ \S+ \S+ *(.*)$", re.MULTILINE)
_DELETED = " (deleted)"


@frozen
class Mapping:
    """One mapped piece of a file."""

    start: int
    end: int
    offset: int
    path: str
    inode: str = ""
    """The file's device and number; empty where they are not told."""


class Region(NamedTuple):
    """One mapped piece, of a file or not."""

    start: int
    end: int
    name: str
    """The path of the file, or what the kernel calls it, as ``[stack]``; often empty."""
    is_code: bool
    """Whether it may be run."""


@frozen
class Image:
    """A file mapped piece by piece, as the dynamic linker does it."""

    path: str
    start: int
    end: int
    deleted: bool
    """The file has been replaced or removed since: what lies at ``path`` now is another one."""
    inode: str = ""

    @property
    def mapped(self) -> tuple[str, int, int, str]:
        """Which file lies where: what becomes of the file later changes nothing of that."""
        return self.path, self.start, self.end, self.inode


def from_proc(text: str, above: str = "") -> Iterator[Mapping]:
    """Mappings of files from the text of ``/proc/PID/maps``; ``above`` is ``Surroundings.above``."""
    for line in text.split("\n"):
        path_at = line.find("/")
        if path_at > 0:
            span, _, offset, inode = line[:path_at].rstrip().split(" ", 3)
            start, end = span.split("-")
            path = line[path_at:].replace("\\012", "\n")  # the one character that the kernel writes so
            if above and path.startswith(f"{above}/"):
                path = path[len(above) :]
            yield Mapping(int(start, 16), int(end, 16), int(offset, 16), path, inode)


def regions(text: str) -> Iterator[Region]:
    """All that is mapped, in order of address, from the text of ``/proc/PID/maps``."""
    for start, end, executable, name in _PROC_LINE.findall(text):
        yield Region(int(start, 16), int(end, 16), name, executable == "x")


def from_gdb(text: str) -> Iterator[Mapping]:
    """Mappings of files from what ``info proc mappings`` prints, which works on core files too."""
    for line in text.splitlines():
        found = _GDB_LINE.match(line)
        if found:
            start, end, offset = (int(part, 16) for part in found.groups()[:3])
            yield Mapping(start, end, offset, found[4])


def images(mappings: Iterable[Mapping]) -> list[Image]:
    """The mapped files in order of address; a file that is mapped twice is two images.

    A file that is one piece is read as data, as an ELF reader reads a library: it is none that was loaded.
    """
    pieces: list[list[Mapping]] = []
    for mapping in sorted(mappings, key=lambda piece: piece.start):
        if mapping.offset == 0:
            pieces.append([mapping])
        elif pieces and pieces[-1][0].path == mapping.path:
            pieces[-1].append(mapping)
    return [_image(several) for several in pieces if len(several) > 1]


def _image(pieces: list[Mapping]) -> Image:
    path = pieces[0].path.removesuffix(_DELETED)
    return Image(path, pieces[0].start, pieces[-1].end, path != pieces[0].path, pieces[0].inode)
