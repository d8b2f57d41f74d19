"""Whether a folder is private: nobody but its user, and root, can put a file into it or another folder in its place.

As ssh asks it of ``~/.ssh``: the folder is this user's, every one on the way to it this user's or root's, and nobody
else may write there. Others may write in a folder with the sticky bit, as ``/tmp``: nobody can move there what is not
theirs.
"""

from __future__ import annotations

import grp
import os
import pwd
import shlex
import stat
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

_MOST_LINKS = 40
"""Links in a row that are followed, as many as the kernel follows."""


class Weakness(NamedTuple):
    """Why a folder is not private, and the command that makes it so, where there is one."""

    why: str
    command: str = ""


def weakness(folder: Path, *, is_above: bool = False) -> Weakness | None:
    """What lets others into ``folder``, which is there; ``None`` where nothing does.

    ``is_above``: it is only on the way to one that is to be made.
    """
    last = "" if is_above else os.path.realpath(folder)
    for path, status in _way_to(folder, _MOST_LINKS):
        if not _is_trusted(status.st_uid, above=str(path) != last):
            return Weakness(f"{path} belongs to user {status.st_uid}, not to user {os.geteuid()}")
        if _others_write(status, above=str(path) != last):
            mode = stat.S_IMODE(status.st_mode)
            chmod = f"chmod go-w {shlex.quote(str(path))}"
            return Weakness(f"other users may write in {path} (mode {mode:04o})", chmod)
    return None


def belongs_to_us(path: Path) -> bool:
    """Whether ``path`` is there, and nobody but this user and root can have put it there."""
    path = path.absolute()
    try:
        return all(
            status.st_uid in {os.geteuid(), 0, _nameless()} and not _others_write(status, above=part != path)
            for part, status in _way_to(path, _MOST_LINKS)
        )
    except OSError:
        return False


def _way_to(path: Path, links: int) -> Iterator[tuple[Path, os.stat_result]]:
    """Every folder and every link on the way to ``path``, from the root on."""
    for part in (*reversed(path.parents), path):
        status = part.lstat()
        yield part, status
        if stat.S_ISLNK(status.st_mode) and links:
            yield from _way_to((part.parent / part.readlink()).absolute(), links - 1)


def _is_trusted(owner: int, *, above: bool) -> bool:
    """Whether what ``owner`` has is safe: our own; ``above`` the folder also root's, which may write everywhere."""
    return owner == os.geteuid() or (above and (owner == 0 or owner == _nameless()))


def _nameless() -> int:
    """How the kernel shows the users that this user namespace does not know, outside root among them; else -1."""
    try:
        if Path("/proc/self/uid_map").read_text(encoding="ascii").split() == ["0", "0", "4294967295"]:
            return -1
        return int(Path("/proc/sys/kernel/overflowuid").read_text(encoding="ascii"))
    except (OSError, ValueError):
        return -1


def _others_write(status: os.stat_result, *, above: bool) -> bool:
    if stat.S_ISLNK(status.st_mode) or (above and status.st_mode & stat.S_ISVTX):
        return False
    by_group = status.st_mode & stat.S_IWGRP and not _is_own_group(status.st_gid)
    return bool(status.st_mode & stat.S_IWOTH or by_group)


def _is_own_group(group: int) -> bool:
    """Whether nobody else is in it: the group that many systems make for each user, with a umask of 002; or root's."""
    try:
        user = pwd.getpwuid(os.geteuid())
        found = grp.getgrgid(group)
    except KeyError:
        return group == 0
    own = group == 0 or (group == user.pw_gid and found.gr_name == user.pw_name)
    return own and set(found.gr_mem) <= {user.pw_name, "root"}
