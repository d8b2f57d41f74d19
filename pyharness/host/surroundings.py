"""What another process sees that this one does not: namespaces of its own, as in a container, or another root folder.

What a process says is in its own terms, as the ids of its threads and the paths of its files; here they are translated.
"""

from __future__ import annotations

import os
from typing import Literal

Kind = Literal["processes", "files", "network", "users"]
_NAMESPACES: dict[Kind, str] = {"processes": "pid", "files": "mnt", "network": "net", "users": "user"}
KINDS: tuple[Kind, ...] = tuple(_NAMESPACES)


class Surroundings:
    """The surroundings of the process ``pid``, as this process numbers it."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._outer: dict[int, int] = {}
        """Thread ids: the program's own → the one that this process knows."""

    def sees(self, kind: Kind) -> bool:
        """Whether it sees the same of that kind as we do; ``OSError`` where that is secret."""
        if kind == "files" and not self.same_file("/"):  # a chroot is no namespace
            return False
        name = _NAMESPACES[kind]
        return os.readlink(f"/proc/{self.pid}/ns/{name}") == os.readlink(f"/proc/self/ns/{name}")  # noqa: PTH115

    @property
    def root(self) -> str:
        """What comes before a path of its own to make it one of ours; empty where both see the same files."""
        try:
            return "" if self.sees("files") else f"/proc/{self.pid}/root"
        except OSError:
            return ""

    @property
    def above(self) -> str:
        """What the kernel puts before its paths: it names the files of a chroot as they are outside; else empty."""
        try:
            return os.readlink(f"/proc/{self.pid}/root").rstrip("/")  # noqa: PTH115
        except OSError:
            return ""

    @property
    def folder(self) -> str:
        """The current folder of the process, as it names that; ``/`` where that is secret."""
        try:
            folder = os.readlink(f"/proc/{self.pid}/cwd")  # noqa: PTH115
        except OSError:
            return "/"
        return self.named_there(folder)

    def named_there(self, path: str) -> str:
        """What it calls a file of its own that the kernel names ``path`` out here."""
        inside = path.removeprefix(self.above) or "/"
        return inside if inside.startswith("/") else path

    def same_file(self, path: str) -> bool:
        """Whether what it sees at ``path`` is what we see there."""
        try:
            return os.path.samefile(f"/proc/{self.pid}/root{path}", path)  # noqa: PTH121
        except FileNotFoundError:
            return False

    @property
    def has_proc(self) -> bool:
        """Whether it can read of processes where it lives: a root folder that it changed to often has no /proc."""
        return os.path.exists(f"/proc/{self.pid}/root/proc/{self.pid}")  # noqa: PTH110

    @property
    def number_there(self) -> str:
        """How the process is numbered where it lives, as part of a sentence; empty where it is as here."""
        own = _innermost(f"/proc/{self.pid}/status")
        return f"process {own} in its container" if own not in {0, self.pid} else ""

    def thread(self, own: int) -> int:
        """Our number for a thread that it calls ``own``; that where there is none."""
        if own not in self._outer:
            self._outer = self._numbered()
        return self._outer.get(own, own)

    def _numbered(self) -> dict[int, int]:
        try:
            names = os.listdir(f"/proc/{self.pid}/task")  # noqa: PTH208  (a glob fails while it ends)
        except OSError:
            return {}
        return {_innermost(f"/proc/{self.pid}/task/{name}/status"): int(name) for name in names}


def _innermost(status: str) -> int:
    """The id in the innermost of its pid namespaces; 0 for what has ended."""
    try:
        with open(status, encoding="utf-8", errors="replace") as stream:  # noqa: PTH123
            line = next((line for line in stream if line.startswith("NSpid:")), "")
    except OSError:
        return 0
    return int(line.split()[-1]) if line else 0
