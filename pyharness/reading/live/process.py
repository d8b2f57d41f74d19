"""A running process: its memory, what it has mapped, its Python and its torch, as the kernel shows them."""

from __future__ import annotations

import os
from functools import cached_property
from typing import TYPE_CHECKING

from pyharness.host.surroundings import Surroundings
from pyharness.reading.autograd.current import GETTER, variable_of_getter
from pyharness.reading.binaries.elf import Elf, ElfError
from pyharness.reading.process import memory_map
from pyharness.reading.process.mapped_files import Library, MappedFiles
from pyharness.reading.process.memory import Memory, UnreadableError
from pyharness.reading.python.layout import UnknownPythonError
from pyharness.reading.python.runtime import find_python
from pyharness.reading.tensors.installation import CORE, torch_version_of
from pyharness.reading.tensors.layout import for_version

if TYPE_CHECKING:
    from types import TracebackType

    from typing_extensions import Self

    from pyharness.reading.process.thread_local import ThreadLocal
    from pyharness.reading.python.threads import Python
    from pyharness.reading.tensors.layout import TensorLayout

_VDSO = "[vdso]"
_MAX_VDSO = 1 << 16


class LiveProcess:
    """Open for reading while its ``with`` block runs; whether it stands then is not its business."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._maps = ""
        self.files = MappedFiles([], pid, self.read)

    def __enter__(self) -> Self:
        self._descriptor = os.open(f"/proc/{self.pid}/mem", os.O_RDONLY | os.O_CLOEXEC)
        try:
            self.look()
        except OSError:
            os.close(self._descriptor)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._descriptor)

    def read(self, address: int, size: int) -> bytes:
        """Bytes of its memory as they are now; fewer where it ends before, ``OSError`` where there is none."""
        try:
            return os.pread(self._descriptor, size, address)
        except OverflowError as error:
            raise OSError(str(error)) from error

    def look(self) -> None:
        """Forget what may have changed since the last look: all memory, and the mappings if they are others now."""
        self.memory = Memory(self.read)
        with open(f"/proc/{self.pid}/maps", encoding="utf-8", errors="surrogateescape") as stream:  # noqa: PTH123
            text = stream.read()
        if text == self._maps:
            return
        self._maps = text
        images = memory_map.images(memory_map.from_proc(text, Surroundings(self.pid).above))
        if self.files.images != images:
            self.files = MappedFiles(images, self.pid, self.read)

    @cached_property
    def program(self) -> str:
        """The path of the file that it runs; empty where that cannot be known."""
        try:
            return os.readlink(f"/proc/{self.pid}/exe").removesuffix(" (deleted)")  # noqa: PTH115
        except OSError:
            return ""

    @property
    def regions(self) -> list[memory_map.Region]:
        """All that is mapped, of files or not."""
        return list(memory_map.regions(self._maps))

    def thread_name(self, lwp: int) -> str:
        """The kernel's name of a thread; empty for one that is gone."""
        try:
            with open(f"/proc/{self.pid}/task/{lwp}/comm", encoding="utf-8", errors="replace") as stream:  # noqa: PTH123
                return stream.read().rstrip("\n")
        except OSError:
            return ""

    def library_at(self, address: int) -> Library | None:
        """The library that an address lies in; the kernel's own, which is no file, counts as one."""
        return self.files.at(address) or (
            self._vdso if self._vdso and self._vdso.start <= address < self._vdso.end else None
        )

    @cached_property
    def _vdso(self) -> Library | None:
        region = next((one for one in self.regions if one.name == _VDSO and one.end - one.start <= _MAX_VDSO), None)
        if region is None:
            return None
        try:
            elf = Elf(_VDSO, self.read(region.start, region.end - region.start))
        except (ElfError, OSError):
            return None
        return Library(_VDSO, region.start - elf.base, region.start, region.end, elf)

    def prepare(self) -> None:
        """Open the files that will be asked for while it stands: that takes longer than to read it."""
        for part in ("libpython", "python", CORE):
            self.files.named(part)
        _ = self._vdso, self.torch_layout

    @cached_property
    def torch_layout(self) -> TensorLayout | None:
        """Where its torch keeps things; ``None`` in a program without torch."""
        return for_version(self.torch_version) if self.files.named(CORE) else None

    @cached_property
    def torch_version(self) -> str | None:
        """The version of its torch, such as ``2.13.0+cpu``; ``None`` where it has none, or that cannot be told."""
        core = self.files.named(CORE)
        return torch_version_of(core.path, (image.path for image in self.files.images)) if core else None

    def python(self) -> tuple[Python | None, str]:
        """The interpreter as it is now, or why there is none to read."""
        try:
            found = find_python(self.memory, self.files.interpreters())
        except UnknownPythonError as error:
            return None, f"{error.message} {error.remedy}".rstrip()
        return found, "" if found else "no Python in this process: native frames only"

    def node_variable(self) -> ThreadLocal | None:
        """Where each thread keeps the autograd node that it runs."""
        core = self.files.named(CORE)
        getter = core.elf.symbol(GETTER) if core else None
        if core is None or getter is None:
            return None
        try:
            return variable_of_getter(self.memory, core.bias + getter)
        except UnreadableError:
            return None
