"""The file that ``python -m MODULE`` runs, found as ``runpy`` finds it, but without importing its packages."""

from __future__ import annotations

import os
import sys
from functools import lru_cache
from importlib.machinery import PathFinder
from pathlib import Path
from typing import TYPE_CHECKING

from pyharness.host.folders import current_folder

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def module_file(name: str, cwd: str | None, python: str, env: Mapping[str, str]) -> str:
    """The path of the module ``name``, or of a package's ``__main__``; empty where it is not found from here.

    What lies in the folders of another interpreter than this one is not looked for.
    """
    given = {**os.environ, **env}
    here = current_folder()
    if here is None:
        return ""
    folder = here / (cwd or "")
    others = _of_this_python(here) if python in {"", sys.executable} else []
    first = [] if given.get("PYTHONSAFEPATH") and sys.version_info >= (3, 11) else [folder]
    return _found(name, tuple(map(str, (*first, *_added(given, folder), *others))))


def _of_this_python(here: Path) -> list[Path]:
    """Where this process finds modules, but for what it has by the folder that it was started in."""
    begun = sys.path[1:] if sys.path and here / sys.path[0] == here else sys.path
    added = [Path(each) for each in os.environ.get("PYTHONPATH", "").split(os.pathsep) if each]
    relative = {here / each for each in added if not each.is_absolute()}
    return [Path(each) for each in begun if here / each not in relative]


def _added(env: Mapping[str, str], folder: Path) -> list[Path]:
    """The folders of PYTHONPATH as a process that starts in ``folder`` has them."""
    return [folder / each for each in env.get("PYTHONPATH", "").split(os.pathsep) if each]


@lru_cache(maxsize=8)
def _found(name: str, folders: tuple[str, ...]) -> str:
    where: Sequence[str] | None = folders
    parts = name.split(".")
    for number, part in enumerate((*parts, "__main__")):
        spec = PathFinder.find_spec(".".join([*parts[:number], part]), where)
        if spec is None:
            return ""
        where = spec.submodule_search_locations
        if where is None:  # no package: the last one, or nothing that can be run
            named = number >= len(parts) - 1
            return spec.origin if named and spec.origin and spec.has_location else ""
    return ""
