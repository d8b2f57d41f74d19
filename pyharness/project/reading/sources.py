"""The project's own source files: what a build makes, installs or downloads is left out."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from pyharness.host.regular_file import read_text
from pyharness.host.visible import is_there

if TYPE_CHECKING:
    from collections.abc import Iterator

CXX = (".cpp", ".cc", ".cxx", ".cu", ".c++", ".C", ".mm")
HEADERS = (".h", ".hpp", ".hh", ".cuh", ".hxx", ".inl", ".ipp")
_SKIPPED = {"build", "_skbuild", "dist", "node_modules", "__pycache__", "site-packages", "third_party", "thirdparty"}
_SKIPPED |= {"debugging", "3rdparty", "external", "extern", "vendor", "submodules", "CMakeFiles"}
_DEEPEST, _MOST_FOLDERS = 10, 5_000
_LARGEST = 4 << 20
"""Bytes of a file that is read; a person's source is smaller."""
_TESTS = {"test", "tests", "testing", "benchmark", "benchmarks", "example", "examples", "docs"}


def files(root: Path, endings: tuple[str, ...]) -> Iterator[Path]:
    """Files of the project, folder by folder in the order of their names."""
    for count, (folder, folders, names) in enumerate(os.walk(root)):
        here = Path(folder)
        depth = len(here.relative_to(root).parts)
        folders[:] = sorted(name for name in folders if depth < _DEEPEST and _is_own(here / name))
        yield from (here / name for name in sorted(names) if name.endswith(endings))
        if count > _MOST_FOLDERS:
            return


def text_of(path: Path) -> str:
    """A source's text, whatever its encoding; empty where it cannot be read or is no person's file."""
    try:
        return read_text(path, _LARGEST)
    except OSError:
        return ""


def is_test(path: Path, root: Path) -> bool:
    """Whether a file lies in a folder of tests, benchmarks or examples."""
    return bool(_TESTS & {part.lower() for part in path.relative_to(root).parts[:-1]})


def _is_own(folder: Path) -> bool:
    name = folder.name
    hidden = name.startswith((".", "build-", "cmake-build")) or name.endswith(".egg-info")
    return not hidden and name not in _SKIPPED and not is_there(folder / "pyvenv.cfg")
