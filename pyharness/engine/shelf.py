"""The engines that were built here: one folder for each, in the private state folder, named by what it fits."""

from __future__ import annotations

import fcntl
import hashlib
import json
import re
import shutil
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any

from pyharness.engine import jobs, sources
from pyharness.host.state import state_dir
from pyharness.model.frozen import frozen

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from pyharness.engine.facts import Facts

MODULE = "_engine"
_BUILT_FOR = re.compile(rb"pyharness engine for torch ([\w.+]+)")
_PART = ".part"


@frozen
class Kept:
    """One engine on the shelf."""

    key: str
    file: Path
    torch: str
    python: str
    size: int
    """Bytes."""
    is_current: bool
    """Whether it is made of this pyharness's sources."""

    def to_json(self) -> dict[str, Any]:
        """A plain object of it."""
        names = ("key", "torch", "python", "size")
        return {name: getattr(self, name) for name in names} | {"file": str(self.file), "current": self.is_current}


def folder() -> Path:
    """The shelf."""
    return state_dir("engine")


def key(facts: Facts) -> str:
    """The name of the engine that fits exactly."""
    fits = json.dumps([facts.version, facts.build, facts.abi, facts.suffix, sources.digest()])
    tag = facts.suffix.strip(".").partition(".")[0].removesuffix("-x86_64-linux-gnu")
    return f"torch-{facts.version}-{tag}-{hashlib.sha256(fits.encode()).hexdigest()[:16]}"


def find(facts: Facts) -> Path | None:
    """The module that fits, where it has been built."""
    file = folder() / key(facts) / f"{MODULE}{facts.suffix}"
    return file if file.is_file() else None


def all_kept() -> list[Kept]:
    """Every engine on the shelf, by name."""
    found = [_kept(each) for each in sorted(folder().iterdir()) if each.is_dir() and each.suffix != _PART]
    return [each for each in found if each]


def _kept(place: Path) -> Kept | None:
    try:
        about = json.loads((place / "about.json").read_bytes())
        (file,) = place.glob(f"{MODULE}.*")
        current = about["sources"] == sources.digest()
        return Kept(place.name, file, str(about["torch"]), str(about["python"]), file.stat().st_size, current)
    except (OSError, ValueError, KeyError, TypeError):
        return None


@contextmanager
def being_built(name: str) -> Iterator[Path]:
    """A folder to build in, which becomes the shelf's ``name`` if all goes well; one process at a time.

    It has what a builder had made who was ended meanwhile: that is kept, but for a build that fails.
    """
    place, part = folder() / name, folder() / f"{name}{_PART}"
    part.mkdir(mode=0o700, exist_ok=True)
    try:
        yield part
        shutil.rmtree(place, ignore_errors=True)
        part.rename(place)
    except (jobs.GivenUpError, KeyboardInterrupt, SystemExit):
        raise
    except BaseException:
        shutil.rmtree(part, ignore_errors=True)
        raise


@contextmanager
def locked(name: str, waits: Callable[[], None], left: threading.Event) -> Iterator[None]:
    """Hold what only one process has at a time; ``waits()`` is called where another has it, and it is waited for.

    ``GivenUpError`` where ``left`` is set meanwhile.
    """
    with (folder() / f"{name}.lock").open("w") as lock:
        if not _taken(lock):
            waits()
            while not _taken(lock):
                if left.wait(jobs.LOOK):  # a lock of a file cannot be waited for together with anything else
                    raise jobs.GivenUpError
        yield


def _taken(lock: IO[str]) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def remove(name: str) -> None:
    """Take one off the shelf; what has loaded it keeps it."""
    for place in (folder() / name, folder() / f"{name}{_PART}"):
        shutil.rmtree(place, ignore_errors=True)
    (folder() / f"{name}.log").unlink(missing_ok=True)


def remove_begun() -> list[str]:
    """Remove what ended builders have left, but for those that another has gone on with; their names."""
    gone = []
    for part in folder().glob(f"*{_PART}"):
        with (folder() / f"{part.stem}.lock").open("w") as lock:
            if _taken(lock):
                shutil.rmtree(part, ignore_errors=True)
                gone.append(part.stem)
    return gone


def built_for(file: Path) -> str:
    """The torch that an engine's file was compiled against; empty where it does not say."""
    try:
        found = _BUILT_FOR.search(file.read_bytes())
    except OSError:
        return ""
    return found[1].decode() if found else ""
