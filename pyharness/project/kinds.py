"""Which kind of project a folder holds, and what its debug build needs to know, from its files alone."""

from __future__ import annotations

import importlib
import os
import re
import sys
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from pyharness.host.folders import current_folder
from pyharness.host.missing import check_link
from pyharness.host.visible import is_file
from pyharness.model.errors import HarnessError, UsageError, nearest
from pyharness.project.reading import jit_calls, setup_file
from pyharness.project.reading.cmake_commands import commands
from pyharness.project.reading.sources import CXX, files, text_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyharness.project.reading.jit_calls import JitCall

_toml = importlib.import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")  # the same module, by two names
KINDS = ("scikit-build-core", "setuptools", "cmake", "jit")
Kind = Literal["scikit-build-core", "setuptools", "cmake", "jit"]
_LIBRARIES = {"add_library", "python_add_library", "python3_add_library", "pybind11_add_module", "nanobind_add_module"}
_MOST_BELOW, _MOST_OFFERED = 20, 3
_REMEDY = (
    "It reads setup.py (CppExtension, CUDAExtension), CMakeLists.txt (find_package(Torch)), pyproject.toml "
    "(scikit-build-core) and Python files (torch.utils.cpp_extension.load). Name the folder that has one of them."
)


@dataclass(frozen=True)
class Project:
    """A folder and how it builds its C++."""

    root: Path
    name: str
    kind: Kind
    why: str
    """What of it says so."""
    modules: tuple[str, ...] = ()
    """The extensions, as they are imported; ``*`` in what only running the build could tell."""
    options: tuple[str, ...] = ()
    """``-D`` options that its own build gives to CMake."""
    cmake_folder: str = "."
    """Where its top CMakeLists.txt is."""
    jit: tuple[JitCall, ...] = ()
    also: tuple[Kind, ...] = ()
    """Other kinds that it is as well."""

    @property
    def module(self) -> str:
        """The one extension's own name; empty where there are several, or it is not known."""
        names = {name.rpartition(".")[2] for name in self.modules}
        return name if len(names) == 1 and "*" not in (name := next(iter(names))) else ""


def check_folder(root: Path) -> None:
    """``UsageError`` where there is no such folder, ``HarnessError`` where it cannot be looked into."""
    if not root.is_absolute() and current_folder() is None:
        raise UsageError("This folder has been removed.", "Go to your project's folder first (cd).")
    if is_file(root):
        raise UsageError(f"{root} is a file.", "Name your project's folder.")
    if os.access(root, os.F_OK) and not os.access(root.resolve(), os.R_OK | os.X_OK):  # a folder above it may be closed
        raise HarnessError(f"{root} cannot be read.", "Ask its owner for the permission, or copy the project.")
    if not os.access(root, os.F_OK) or not root.is_dir():
        check_link(root, str(root))
        known = [one.name for one in os.scandir(root.parent)] if os.access(root.parent, os.R_OK | os.X_OK) else []
        raise UsageError(f"There is no folder {str(root)!r}.", nearest(root.name, known) or "Name your project's.")


def project_in(root: Path, kind: str = "") -> Project:
    """The project of a folder, of that kind where it is several; ``UsageError`` where it is none."""
    check_folder(root)
    if kind and kind not in KINDS:
        raise UsageError(f"There is no kind {kind!r}.", nearest(kind, KINDS) or f"It is {', '.join(KINDS)}.")
    found = {one.kind: one for one in _all(root.resolve())}
    if not found:
        below = ", ".join(f"`pyharness init {folder}`" for folder in _below(root))
        remedy = f"There is one below: {below}." if below else _REMEDY
        raise UsageError(f"{root} is not a project that builds a PyTorch extension.", remedy)
    if kind and kind not in found:
        raise UsageError(f"{root} is not a {kind} project.", f"It is of kind {' and '.join(found)}.")
    chosen = next(one for name, one in found.items() if not kind or name == kind)
    others = tuple(name for name in found if name != chosen.kind)
    return replace(chosen, also=others)


def _below(root: Path) -> list[Path]:
    """Folders of it that hold a project."""
    found = dict.fromkeys(path.parent for path in files(root, ("setup.py", "CMakeLists.txt", "pyproject.toml")))
    nearest_first = sorted((folder for folder in found if folder != root), key=lambda folder: len(folder.parts))
    return [folder for folder in nearest_first[:_MOST_BELOW] if next(_all(folder.resolve()), None)][:_MOST_OFFERED]


def _all(root: Path) -> Iterator[Project]:
    """What it is, the way that it is published first."""
    metadata = _metadata(root)
    name = str(metadata.get("project", {}).get("name", "")) or root.name
    backend = str(metadata.get("build-system", {}).get("build-backend", ""))
    setup = setup_file.read(root)
    folder = _cmake_folder(root, below=bool(setup and setup.runs_cmake))
    cmake = _cmake(folder)
    if backend.startswith("scikit_build_core") and cmake is not None:
        yield Project(root, name, "scikit-build-core", f"pyproject.toml names {backend}", modules=_targets(cmake))
    if setup and setup.builds_extensions:
        yield Project(root, setup.name or name, "setuptools", setup.why, modules=setup.modules)
    if cmake is not None and (_uses_torch(cmake) or (setup and setup.runs_cmake)):
        options = setup.options if setup else ()
        at = folder.relative_to(root).as_posix()
        file = (folder / "CMakeLists.txt").relative_to(root).as_posix()
        why = f"{file} finds Torch" if _uses_torch(cmake) else "setup.py runs CMake"
        yield Project(root, name, "cmake", why, modules=_targets(cmake), options=options, cmake_folder=at)
    if calls := tuple(jit_calls.calls(root)):
        first = calls[0]
        yield Project(root, name, "jit", f"{first.file}:{first.line} calls {first.function}()", jit=calls)


def _metadata(root: Path) -> dict[str, Any]:
    """pyproject.toml; empty where there is none."""
    file = root / "pyproject.toml"
    if not file.is_file():
        return {}
    try:
        data: dict[str, Any] = _toml.loads(file.read_text(encoding="utf-8"))
    except (ValueError, OSError) as error:
        raise HarnessError(f"{file} cannot be read: {error}.", "Mend it: pip cannot read it either.") from error
    return {name: value for name, value in data.items() if isinstance(value, dict)}


def _cmake_folder(root: Path, *, below: bool) -> Path:
    """Where the top CMakeLists.txt is: here, or where setup.py runs CMake the first below that finds Torch."""
    if below and not (root / "CMakeLists.txt").is_file():
        for path in sorted(files(root, ("CMakeLists.txt",)), key=lambda path: len(path.parts)):
            if _uses_torch([(one.name, one.arguments) for one in commands(text_of(path))]):
                return path.parent
    return root


def _cmake(root: Path) -> list[tuple[str, tuple[str, ...]]] | None:
    """The commands of the top CMakeLists.txt and those below that it may include."""
    top = root / "CMakeLists.txt"
    if not top.is_file():
        return None
    below = [path for path in files(root, ("CMakeLists.txt", ".cmake")) if path != top]
    return [(one.name, one.arguments) for path in [top, *below] for one in commands(text_of(path))]


def _uses_torch(cmake: list[tuple[str, tuple[str, ...]]]) -> bool:
    """Whether Torch is found, or linked to."""
    return any(
        (name == "find_package" and arguments[:1] == ("Torch",))
        or (name == "target_link_libraries" and any(re.search(r"TORCH_LIBRARIES|^torch", one) for one in arguments))
        for name, arguments in cmake
    )


def _targets(cmake: list[tuple[str, tuple[str, ...]]]) -> tuple[str, ...]:
    """The libraries that are built to be loaded."""
    project = next((arguments[0] for name, arguments in cmake if name == "project" and arguments), "")
    named = [
        re.sub(r"\$\{(CMAKE_)?PROJECT_NAME\}", project, arguments[0])
        for name, arguments in cmake
        if name in _LIBRARIES
        and arguments
        and not {"STATIC", "INTERFACE", "OBJECT", "IMPORTED", "ALIAS"} & set(arguments)
    ]
    return tuple(dict.fromkeys(re.sub(r"\$\{[^}]*\}", "*", name) for name in named))


def sources(project: Project) -> list[Path]:
    """The project's C++ files; ``UsageError`` where it has none."""
    found = list(files(project.root, CXX))
    if not found and not any(call.inline for call in project.jit):
        raise UsageError(
            f"{project.root} has no C++ sources, though {project.why}.",
            f"They end in {', '.join(CXX[:4])} and lie in this folder, not in third_party or build.",
        )
    return found
