"""Which extensions are the user's: those that were named, else the libraries in the project that link to libtorch."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pyharness.doctor.binaries.torch_symbols import uses_torch
from pyharness.doctor.machine import answered, is_file_name
from pyharness.host.folders import home_folder
from pyharness.host.regular_file import read_text
from pyharness.host.visible import is_there
from pyharness.model.errors import HarnessError
from pyharness.model.user_code import is_user_binary
from pyharness.reading.binaries.elf import ElfError, open_elf

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pyharness.doctor.machine import Machine

_SKIPPED = {"node_modules", "__pycache__", "site-packages", "dist-packages"}
_BUILD = {"build", "_skbuild", "dist", "CMakeFiles"}
_KERNELS = {Path("/proc"), Path("/sys")}
"""Thousands of folders that have no file of anybody's."""
_DEEPEST, _MOST_FOLDERS = 8, 20_000


@dataclass(frozen=True)
class Extension:
    """A library to look at; ``error`` where there is none by that name."""

    path: str
    how: str
    error: str = ""


def extensions(machine: Machine) -> list[Extension]:
    """The extensions to look at: those that were named, else those of the project."""
    if machine.wanted.extensions:
        return [extension for name in machine.wanted.extensions for extension in _named(machine, name)]
    project = machine.wanted.project.resolve()
    python = answered(lambda: machine.python)
    installed = python["installed"]
    found = {
        **dict.fromkeys(
            _loaded_at_run_time(project, _built_for(machine, python["version"])),
            "built by torch's load() from the project",
        ),
        **dict.fromkeys(_in_folder(project), "found in the project"),
        **dict.fromkeys(installed, "installed from the project"),
    }
    return [Extension(path, found[path]) for path in _own(_one_of_each(found))]


def _named(machine: Machine, name: str) -> Iterator[Extension]:
    """A file, a module, or all in a package."""
    if is_file_name(name):
        yield Extension(str(Path(name).absolute()), "named")
        return
    answer = answered(lambda: machine.python)["modules"][name]
    file = answer.get("file", "")
    inside = _own(_in_folder(Path(file).parent)) if "__init__" in file else []
    if file.endswith(".so"):
        yield Extension(file, "named")
    elif inside:
        yield from (Extension(path, f"found in the package {name}") for path in inside)
    else:
        what = f"{name} is {file or 'a namespace package'}, and no extension that uses torch"
        yield Extension(name, "named", answer.get("error", what))


def _in_folder(project: Path) -> Iterator[str]:
    """Libraries below a folder; hidden folders and virtual environments are not the project's own."""
    for count, (folder, folders, files) in enumerate(os.walk(project)):
        depth = len(Path(folder).relative_to(project).parts)
        folders[:] = sorted(name for name in folders if depth < _DEEPEST and _is_own(Path(folder, name)))
        yield from (str(Path(folder, name)) for name in sorted(files) if name.endswith(".so"))
        if count > _MOST_FOLDERS:
            return


def _is_own(folder: Path) -> bool:
    name = folder.name
    return (
        folder not in _KERNELS
        and not name.startswith(".")
        and name not in _SKIPPED
        and not is_there(folder / "pyvenv.cfg")
    )


def _built_for(machine: Machine, python: str) -> str:
    """How torch names the folder of builds for this Python and this torch; a beginning where torch does not answer."""
    begin = f"py{''.join(python.split('.')[:2])}_"
    try:
        cuda = machine.torch["cuda"]
    except HarnessError:
        return begin
    return f"{begin}{'cu' + cuda.replace('.', '') if cuda else 'cpu'}"


def _loaded_at_run_time(project: Path, built_for: str) -> Iterator[str]:
    """What ``torch.utils.cpp_extension.load`` built: its folders lie in a cache, its build files name the sources."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or (home_folder() or Path("/")) / ".cache")
    root = Path(os.environ.get("TORCH_EXTENSIONS_DIR") or cache / "torch_extensions")
    for build in [*root.glob("*/build.ninja"), *root.glob(f"{built_for}*/*/build.ninja")]:
        with suppress(OSError):
            if f"{project}/" in read_text(build):
                yield from map(str, sorted(build.parent.glob("*.so")))


def _own(paths: Iterable[str]) -> list[str]:
    """The libraries that use torch and are not a part of the debugger."""
    return [path for path in paths if is_user_binary(path) and _uses_torch(path)]


def _uses_torch(path: str) -> bool:
    try:
        return uses_torch(open_elf(path))
    except (ElfError, ValueError):
        return False


def _one_of_each(paths: Iterable[str]) -> Iterator[str]:
    """One file for each name: the one that Python would find, else the newest build."""
    by_name: dict[str, list[str]] = {}
    for path in paths:
        by_name.setdefault(Path(path).name, []).append(path)
    for same in by_name.values():
        yield max(same, key=lambda path: (not _BUILD & set(Path(path).parts), Path(path).stat().st_mtime))
