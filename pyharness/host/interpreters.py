"""The interpreter that a person means by ``pyharness step train.py``: that of the program's environment.

The debugger may live in an environment of its own (pipx, uv tool): the program's packages are elsewhere. So the
interpreter is looked for as editors and uv do: an activated environment, the project's ``.venv``, the choice
of VS Code. A file that another user may have put there is not run.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from pyharness.host.private_folder import belongs_to_us
from pyharness.host.visible import is_file, is_there

if TYPE_CHECKING:
    from collections.abc import Iterator

_MARKS = (".git", "pyproject.toml", "setup.py", "setup.cfg")
"""What the uppermost folder of a project has."""
_BIN = Path("bin/python")
_TOOLS = ("pipx_metadata.json", "uv-receipt.toml")
"""Files in an environment that was made for one tool: no program was installed there."""
_LARGEST = 1 << 20


class Interpreter(NamedTuple):
    """A Python executable, and why it is the one."""

    path: str
    why: str

    def told(self, other: str) -> str:
        """Which one was chosen, for a person; ``other``: what they write to have another."""
        return f"The program's Python: {self.path} ({self.why}; {other} names another)."


def interpreter_for(folder: str | Path | None = None, script: str = "") -> Interpreter | None:
    """The interpreter of the environment that a program in ``folder`` belongs to; ``None`` for this very one.

    ``folder`` is the program's working folder, this process's where it is ``None``; ``script`` is searched from when
    it lies in another project.
    """
    try:
        here = Path(folder or Path.cwd()).absolute()
    except OSError:  # this process's folder was removed
        here = Path("/")
    around = [*_project(here), *(_project((here / script).parent) if script else ())]
    for found in _candidates(around):
        if os.access(found.path, os.X_OK):
            return None if is_this_one(found.path) else found
    return None


def _candidates(folders: list[Path]) -> Iterator[Interpreter]:
    conda, base = os.environ.get("CONDA_PREFIX", ""), os.environ.get("CONDA_DEFAULT_ENV") == "base"
    if active := os.environ.get("VIRTUAL_ENV"):
        yield _of(Path(active), "VIRTUAL_ENV")
    if conda and not base:
        yield _of(Path(conda), "CONDA_PREFIX")
    for folder in folders:
        if belongs_to_us(folder / ".venv"):
            yield _of(folder / ".venv", "the project's .venv")
    for folder in folders:
        if chosen := _editors_choice(folder):
            yield Interpreter(chosen, "python.defaultInterpreterPath of .vscode/settings.json")
    if conda and base:  # it is active in every shell of many users, also where a project has its own
        yield _of(Path(conda), "CONDA_PREFIX")
    if any(Path(sys.prefix, name).exists() for name in _TOOLS) and (on_path := shutil.which("python3")):
        yield Interpreter(on_path, "python3 of PATH, since pyharness is installed as a tool")


def _of(environment: Path, why: str) -> Interpreter:
    return Interpreter(str(environment.absolute() / _BIN), why)


def _project(folder: Path) -> list[Path]:
    """``folder`` and those above it, up to the uppermost of its project; ``folder`` alone where there is no project."""
    above = [folder, *folder.parents]
    last = next((index for index, each in enumerate(above) if any(is_there(each / mark) for mark in _MARKS)), 0)
    return above[: last + 1]


def _editors_choice(folder: Path) -> str:
    """What VS Code's settings of ``folder`` name, where it is an executable; else an empty string."""
    file = folder / ".vscode" / "settings.json"
    if not is_file(file) or not belongs_to_us(file) or file.stat().st_size > _LARGEST:
        return ""
    from pyharness.model.text import jsonc  # only where there is such a file

    try:
        data = jsonc.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return ""  # the editor says what is wrong with it
    named = data.get("python.defaultInterpreterPath") if isinstance(data, dict) else None
    return _resolved(named, folder) if isinstance(named, str) else ""


def _resolved(named: str, folder: Path) -> str:
    for variable, value in (("${workspaceFolder}", str(folder)), ("${userHome}", str(Path.home()))):
        named = named.replace(variable, value)
    path = folder / named
    if path.is_dir():  # VS Code takes an environment's folder, too
        path /= _BIN
    elif os.sep not in named:
        path = Path(shutil.which(named) or path)
    return str(path) if is_file(path) and belongs_to_us(path) else ""


def is_this_one(path: str) -> bool:
    """Whether ``path`` is an executable of the environment that this process runs in.

    Executables of several environments are links to one file, so the environments' folders are compared.
    """
    folder = os.path.realpath(Path(path).parent)
    return folder in {os.path.realpath(each) for each in (Path(sys.prefix, _BIN).parent, Path(sys.executable).parent)}
