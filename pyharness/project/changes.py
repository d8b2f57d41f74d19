"""Files that are about to be written: shown as a difference, or written whole, each in one step."""

from __future__ import annotations

import difflib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pyharness.host.regular_file import read_regular
from pyharness.host.whole_file import write_whole
from pyharness.model.errors import HarnessError

if TYPE_CHECKING:
    from collections.abc import Iterator

State = Literal["written", "merged", "unchanged", "kept"]


@dataclass(frozen=True)
class Change:
    """A file as it is and as it shall be; the texts are exact, line ends and all."""

    path: Path
    name: str
    """Relative to the project."""
    before: str | None
    """``None`` where there is no such file."""
    after: str
    state: State
    """``kept`` is a file of theirs that says something else than ours would: it stays."""
    what: str
    """For people."""
    mode: int = 0o644

    @property
    def root(self) -> Path:
        """The project's folder."""
        return self.path.parents[len(Path(self.name).parts) - 1]

    @property
    def writes(self) -> bool:
        """Whether anything changes."""
        return self.state in {"written", "merged"}


def current(path: Path) -> str | None:
    """What a file holds now; ``HarnessError`` where it cannot be read."""
    try:
        return read_regular(path).decode()
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise HarnessError(f"{path} cannot be read: {reason}.", "Mend it or move it out of the way.") from error


def own_file(root: Path, name: str, text: str, what: str, *, replace: bool, mode: int = 0o644) -> Change:
    """A file of ours: one that is there stays as it is, unless it is to be replaced."""
    before = current(root / name)
    state: State = "written" if before is None or (replace and before != text) else "kept"
    if before == text:
        state = "unchanged"
    return Change(root / name, name, before, text, state, what, mode)


def diff(change: Change) -> Iterator[str]:
    """A unified difference, as ``patch`` takes it."""
    if not change.writes:
        return
    before, after = (change.before or "").splitlines(keepends=True), change.after.splitlines(keepends=True)
    old = f"a/{change.name}" if change.before is not None else "/dev/null"
    for line in difflib.unified_diff(before, after, old, f"b/{change.name}"):
        yield line.rstrip("\n").rstrip("\r")
        if not line.endswith("\n"):
            yield "\\ No newline at end of file"


def write(changes: list[Change]) -> None:
    """All of them; ``HarnessError`` names the one that cannot be written, before which others may have been."""
    for change in changes:
        if change.writes:
            _write(change)


def check_inside(root: Path, path: Path) -> None:
    """``HarnessError`` where links in a project, which somebody else may have made, lead out of its folder."""
    target = path.resolve()
    if not target.is_relative_to(root.resolve()):
        raise HarnessError(
            f"{path} would be written outside of the project: a link leads to {target}.",
            "Remove the link, or name the folder that it leads to.",
        )


def check(changes: list[Change]) -> None:
    """``HarnessError`` where a folder does not take files, before anything is written."""
    for change in changes:
        if not change.writes:
            continue
        check_inside(change.root, change.path)
        folder = next(parent for parent in change.path.parents if parent.exists())
        if not folder.is_dir():
            raise HarnessError(f"{folder} is a file, where {change.name} needs a folder.", "Move it out of the way.")
        if not os.access(folder, os.W_OK | os.X_OK) or os.statvfs(folder).f_flag & os.ST_RDONLY:
            raise HarnessError(f"{folder} is read-only.", "--dry-run shows what would be written; copy the project.")


def _write(change: Change) -> None:
    """Whole; a link stays one, and so do its permissions."""
    path = change.path.resolve()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, change.after.encode(), change.mode)
    except OSError as error:
        raise HarnessError(f"{change.path} cannot be written: {error.strerror}.", "--dry-run shows it.") from error
