"""The files that the stopped process has mapped, and which of them gdb has to read: only the user's own.

gdb would read the symbols of every library: seconds for libtorch alone. With ``auto-solib-add off`` it reads none.
"""

from __future__ import annotations

import os
import re
from bisect import bisect_right
from contextlib import suppress
from functools import cache, lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

import gdb

from pyharness.host.surroundings import Surroundings
from pyharness.ingdb import console
from pyharness.ingdb.process.inferior_memory import read
from pyharness.model.user_code import is_user_binary
from pyharness.reading.process import file_changes, memory_map
from pyharness.reading.process.mapped_files import (
    Library,
    has_lines,
    is_same,
    lacks_dwo,
    lost_libraries,
    not_opened,
    open_library,
)

if TYPE_CHECKING:
    from pyharness.reading.binaries.elf import Elf

_PAGE = 4096


class _Mapped:
    """The libraries of one inferior, read again when they may have changed."""

    def __init__(self) -> None:
        self.text = ""
        self.starts: list[int] = []
        self.images: list[memory_map.Image] = []
        self.opened: dict[tuple[str, int, int, str], Library] = {}
        self.absent: set[memory_map.Image] = set()
        """What has no file here, or another one by now."""
        self.named: dict[str, Library | None] = {}
        self.missed: set[int] = set()
        self.kept_out: dict[str, str] = {}
        """Paths of libraries that this process had no means to open → what it lacked, in the system's words."""
        self.stale = True
        self.size = b""
        self.loaded: frozenset[str] | None = None
        self.read_code = range(0)
        """Where a library of the user's lies that gdb has read: the last one that was asked about."""

    def refresh(self) -> None:
        """Look at the process again, cheaply when nothing has changed."""
        size = _size()
        if size and size == self.size:
            self.stale = False
            return
        self._read_again(size)

    def _read_again(self, size: bytes) -> None:
        self.stale = False
        self.missed.clear()
        self.size = size
        text, parse = _mappings()
        if text == self.text:
            return
        self.text = text
        self.named.clear()
        self.images = memory_map.images(parse(text))
        self.starts = [image.start for image in self.images]

    def at(self, address: int) -> Library | None:
        """The library that ``address`` lies in."""
        found = self.image_at(address)
        return self.open(found) if found else None

    def image_at(self, address: int) -> memory_map.Image | None:
        """The mapped file that ``address`` lies in, be it here or not."""
        if self.stale:
            self.refresh()
        found = self._find(address)
        if found is None and address >> 12 not in self.missed:
            self._read_again(_size())  # loaded since
            found = self._find(address)
            if found is None:
                self.missed.add(address >> 12)
        return found

    def _find(self, address: int) -> memory_map.Image | None:
        index = bisect_right(self.starts, address) - 1
        return self.images[index] if index >= 0 and address < self.images[index].end else None

    def open(self, image: memory_map.Image) -> Library | None:
        """The ELF file behind an image, ``None`` where there is none or where it is another one by now."""
        if image.mapped not in self.opened and image not in self.absent:
            library = self._open(image)
            if library is None:
                self.absent.add(image)
                return None
            self.opened[image.mapped] = library
        return self.opened.get(image.mapped)

    def _open(self, image: memory_map.Image) -> Library | None:
        return open_library(image, gdb.selected_inferior().pid, read, self.kept_out)


_mapped: dict[int, _Mapped] = {}


def _current() -> _Mapped:
    number = gdb.selected_inferior().num
    if number not in _mapped:
        _mapped[number] = _Mapped()
    return _mapped[number]


def _size() -> bytes:
    """The size of the process's address space: loading or unloading a file changes it, stepping mostly does not.

    The kernel tells it a hundred times faster than the list of the mappings. Empty where there is no live process.
    """
    pid = gdb.selected_inferior().pid
    return _of_process(pid, "statm").partition(b" ")[0] if _is_live(pid) else b""


_live: set[int] = set()
"""Processes that this gdb was seen to trace; asking the kernel again at each stop costs as much as the rest."""


def _is_live(pid: int) -> bool:
    if pid not in _live and is_traced(pid):
        _live.add(pid)
    return pid in _live


def _mappings() -> tuple[str, memory_map.Parse]:
    pid = gdb.selected_inferior().pid
    if is_traced(pid):
        try:
            text = Path(f"/proc/{pid}/maps").read_text(encoding="utf-8", errors="surrogateescape")
        except OSError:  # it ended just now
            text = ""
        return text, partial(memory_map.from_proc, above=Surroundings(pid).above)
    try:
        return console.run("info proc mappings"), memory_map.from_gdb
    except gdb.error:
        return "", memory_map.from_gdb


def is_traced(pid: int) -> bool:
    """Whether this gdb traces ``pid``; a core file has the pid of a process that may be another one by now."""
    # Not gdb.Inferior.connection: gdb 13 fails an assertion when that object goes.
    return b"\nTracerPid:\t%d\n" % os.getpid() in _of_process(pid, "status")


def _of_process(pid: int, name: str) -> bytes:
    """A small file of ``/proc/PID``; empty for a process that is gone."""
    try:
        descriptor = os.open(f"/proc/{pid}/{name}", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        return os.read(descriptor, _PAGE)
    except OSError:
        return b""
    finally:
        os.close(descriptor)


def library_at(address: int) -> Library | None:
    """The library that ``address`` lies in, ``None`` for anonymous memory and for files that are gone."""
    return _current().at(address)


def libraries() -> list[Library]:
    """Every mapped ELF file in order of address."""
    mapped = _current()
    mapped.refresh()
    return [library for image in mapped.images if (library := mapped.open(image))]


def mapping() -> object:
    """Another object whenever the process has mapped other files."""
    mapped = _current()
    mapped.refresh()
    return mapped.images


def find_library(part: str) -> Library | None:
    """The first mapped library whose file name contains ``part``."""
    mapped = _current()
    mapped.refresh()
    if part not in mapped.named:
        named = (image for image in mapped.images if part in Path(image.path).name)
        mapped.named[part] = next((library for image in named if (library := mapped.open(image))), None)
    return mapped.named[part]


def user_libraries() -> list[Library]:
    """The libraries that are the user's own and have line tables."""
    mapped = _current()
    mapped.refresh()
    own = (image for image in mapped.images if is_user_binary(image.path))
    opened = (library for image in own if (library := mapped.open(image)) and _has_lines(library.elf))
    return [library for library in opened if file_changes.since_opened(library.elf) != file_changes.OVERWRITTEN]


def without_dwo() -> list[str]:
    """The user's libraries whose debug information lies in ``.dwo`` files that are not there: nothing can be read."""
    mapped = _current()
    mapped.refresh()
    own = (library for image in mapped.images if is_user_binary(image.path) and (library := mapped.open(image)))
    return [library.path for library in own if _lacks_dwo(library.elf)]


def path_at(address: int) -> str:
    """The path of the file that ``address`` lies in, as the program had it; empty for anonymous memory."""
    image = _current().image_at(address)
    return image.path if image else ""


def may_be_users(address: int) -> bool:
    """Whether the user's code can lie at ``address``: in a library that can be theirs, or in anonymous memory."""
    path = path_at(address)
    return not path or is_user_binary(path)


def may_be_at(address: int, elf: Elf) -> bool:
    """Whether a file is the one that ``address`` lies in, as far as its memory can tell."""
    image = _current().image_at(address)
    return image is None or is_same(image, elf, read)


def lost() -> dict[str, str]:
    """The user's libraries that are not as the program had them: path → what became of the file."""
    mapped = _current()
    mapped.refresh()
    return lost_libraries(mapped.images, lambda image: _became(mapped, image))


def _became(mapped: _Mapped, image: memory_map.Image) -> str:
    library = mapped.open(image)
    if library is None:
        return file_changes.of_path(image.path, deleted=image.deleted)
    became = file_changes.since_opened(library.elf)
    return "" if became != file_changes.OVERWRITTEN and is_loaded(library) else became


def changed_at(address: int) -> str:
    """The file that ``address`` lies in, and what became of it since we opened it; empty where it is as it was."""
    library = library_at(address)
    became = file_changes.since_opened(library.elf) if library and is_user_binary(library.path) else ""
    return f"{library.path} {became}" if library and became else ""


def kept_out() -> str:
    """Why libraries that are here have no names: this process had no means to open them; empty where it had."""
    return not_opened(_current().kept_out)


_has_lines, _lacks_dwo = lru_cache(maxsize=512)(has_lines), lru_cache(maxsize=512)(lacks_dwo)


def is_loaded(library: Library) -> bool:
    """Whether gdb has read the library's symbols."""
    mapped = _current()
    if mapped.loaded is None:
        names = (objfile.filename for objfile in gdb.objfiles())
        mapped.loaded = frozenset(_real_path(name) for name in names if name) - _left_unread
    return library.path in mapped.loaded


_left_unread: set[str] = set()
"""Files of which gdb was told to read neither debug information nor how to unwind their frames."""


def leave_unread(file: str) -> None:
    """Take a file that gdb knows for one that it has not read: its frames are unwound here."""
    _left_unread.add(_real_path(file))
    _current().loaded = None


@lru_cache(maxsize=4096)
def _real_path(name: str) -> str:
    """A file that gdb has read, as the kernel names its mappings: asked at every stop."""
    return os.path.realpath(name)


def is_read_user_code(address: int) -> bool:
    """Whether gdb has read the symbols of code of the user's; quick for the library that was asked about last."""
    mapped = _current()
    if address in mapped.read_code:
        return True
    library = mapped.at(address)
    if library is None or not is_user_binary(library.path) or not is_loaded(library):
        return False
    mapped.read_code = range(library.start, library.end)
    return True


def load_symbols(library: Library) -> bool:
    """Have gdb read one library's symbols; whether it has them now."""
    if not is_loaded(library) and not file_changes.since_opened(library.elf):
        console.run(f"sharedlibrary ^{_basic_regex(_gdb_name(library))}$")
        _current().loaded = None
        if not is_loaded(library):  # gdb does not find what the program named from its own folder, or in its container
            with suppress(gdb.error):  # it is gone since it was opened
                console.run(f'add-symbol-file "{library.elf.path}" -o {library.bias:#x}')
            _current().loaded = None
    return is_loaded(library)


def _basic_regex(name: str) -> str:
    """What matches ``name`` in gdb, whose regular expressions are POSIX's basic ones; a command ends with its line."""
    return re.sub(r"[.\[*^$\\]", r"\\\g<0>", name).replace("\n", ".")


def _gdb_name(library: Library) -> str:
    """How gdb calls it: by the name that the program gave to the dynamic linker, which may be a symbolic link."""
    text = library.elf.sections.get(".text")
    if text is None:
        return library.path
    if not gdb.solib_name(text.address + library.bias):
        console.run("info sharedlibrary ^$")  # has gdb look at the program's list again
    return gdb.solib_name(text.address + library.bias) or library.path


def load_user_symbols() -> list[Library]:
    """Have gdb read the user's libraries that it has not read yet; returns those that were read now."""
    return [library for library in unread_libraries() if load_symbols(library)]


def unread_libraries() -> list[Library]:
    """The user's libraries that gdb has not read yet."""
    mapped = _current()
    mapped.stale = True
    mapped.loaded = None  # gdb before 14 does not tell when a library goes
    return [library for library in user_libraries() if not is_loaded(library)]


def _forget(_event: object) -> None:
    for mapped in _mapped.values():
        mapped.stale = True
        mapped.loaded = None
        mapped.read_code = range(0)


def _forget_files(_event: object) -> None:
    """The next run may load other files at the same addresses: they may be rebuilt by then."""
    _mapped.clear()
    _live.clear()


@cache
def register() -> None:
    """Follow what the program and gdb load; once, however often it is called."""
    gdb.events.stop.connect(_forget)
    gdb.events.new_objfile.connect(_forget)
    gdb.events.clear_objfiles.connect(_forget)
    gdb.events.exited.connect(_forget_files)
