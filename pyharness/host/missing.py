"""Errors of files and programs that are not there: each offers the nearest that is, or says what to type."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from pyharness.host.folders import current_folder
from pyharness.host.programs import is_program
from pyharness.model.errors import UsageError, nearest

_MOST = 2000
"""Files that are looked at for a near name."""


def check_script(script: str, folder: Path | None = None, *, once: bool = False) -> Path:
    """The file that ``script`` is, seen from ``folder``; ``UsageError`` where there is none that could be run.

    As Python takes them, it may be a folder with a ``__main__.py``, or an archive of one. ``once``: only the program
    reads it, so that it may be a pipe too.
    """
    if not script:
        raise UsageError("The name of the script is empty.", "Name the script to run.")
    if script.startswith("-"):
        raise UsageError(
            f"Python takes {script!r} for an option, and runs no script of that name.", f"Write ./{script}"
        )
    path = (folder or Path()) / script
    check_named_from(path)
    if _is_closed(path):
        raise _unreadable(script)
    if path.is_dir():
        if any((path / f"__main__{suffix}").is_file() for suffix in (".py", ".pyc")):
            return path
        raise UsageError(
            f"{script!r} is a folder without a __main__.py.", "Name the script to run, or use -m for a module."
        )
    if _exists(path) and not path.is_file() and not once:
        raise UsageError(
            f"{script!r} is a pipe or a device: a debugger reads its program more than once.",
            "Write it into a file first; `pyharness run` takes it as it is.",
        )
    if not _exists(path):
        check_link(path, script)
        near = nearest(script, _beside(script, folder, ".py"))
        raise UsageError(f"There is no script {script!r}.", near or "Name a Python file, or use -m for a module.")
    if not os.access(path, os.R_OK):
        raise _unreadable(script)
    if is_program(path):
        raise UsageError(
            f"{script} is a program, and no Python file.",
            f"`pyharness debug {script}` starts it and debugs its Python; `pyharness attach PID` does, where it runs.",
        )
    return path


def check_named_from(path: Path) -> None:
    """``UsageError`` where a relative path means nothing: the folder that it begins at was removed."""
    if not path.is_absolute() and current_folder() is None:
        raise UsageError(
            f"{path} is named from the current folder, which is not there any more.",
            "Go into another folder, or give the whole path.",
        )


def check_link(path: str | os.PathLike[str], named: str) -> None:
    """``UsageError`` for a path whose symbolic links lead nowhere: no other name is meant by it."""
    check_no_loop(path, named)
    if os.path.islink(path) and not os.path.exists(path):  # noqa: PTH110, PTH114  (Path raises for some names)
        raise UsageError(
            f"{named!r} is a symbolic link to {os.readlink(path)!r}, which is not there.",  # noqa: PTH115
            "Make it lead to a file, or name the file itself.",
        )


def check_no_loop(path: str | os.PathLike[str], named: str) -> None:
    """``UsageError`` for a path whose symbolic links lead back to themselves."""
    try:
        os.stat(path)  # noqa: PTH116  (it says why)
    except ValueError:  # a name that no file can have
        return
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise UsageError(
                f"{named!r} cannot be opened: its symbolic links lead round in a loop.",
                "`ls -l` shows where each leads. Make one lead to a file.",
            ) from error


def check_module(name: str) -> None:
    """``UsageError`` for what ``python -m`` could find no module by, and the program would read as an option."""
    if name.startswith("-"):
        raise UsageError(f"There is no module {name!r}: no module's name begins with a dash.", "-m MODULE [-- ARGS]")


def _is_closed(path: Path) -> bool:
    """Whether it lies in a folder that this user may not enter."""
    try:
        path.lstat()
    except PermissionError:
        return True
    except (OSError, ValueError):  # a name that no file can have
        return False
    return False


def _unreadable(script: str) -> UsageError:
    return UsageError(f"{script} cannot be read: no permission.", "Python could not read it either: see to its mode.")


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):  # a name that no file can have
        return False


def check_folder(folder: str) -> None:
    """``UsageError`` where a program cannot work in ``folder``."""
    path = Path(folder)
    if not path.exists():
        raise UsageError(f"There is no folder {folder!r} for the program to work in.", "Make it, or name another one.")
    if not path.is_dir():
        raise UsageError(f"{folder!r} is not a folder for the program to work in.", "Name the folder itself.")
    if not os.access(path, os.X_OK):
        raise UsageError(f"{folder} cannot be entered: no permission.", "Name another folder for the program.")


def no_interpreter(python: str) -> UsageError:
    """There is no such executable."""
    return UsageError(f"There is no Python interpreter {python!r}.", "Name the executable that runs your program.")


def no_folder(folder: Path, wanted: str) -> UsageError:
    """There is no folder to write ``wanted`` to."""
    return UsageError(f"There is no folder {str(folder)!r} to write {wanted!r} to.", "Make it, or name another one.")


def _beside(file: str, folder: Path | None, suffix: str) -> list[str]:
    """Names that could be meant instead, as they would be typed."""
    base = folder or Path()
    try:
        found = sorted((base / file).parent.glob(f"*{suffix}"))
    except OSError:
        return []
    names = [str(path.relative_to(base) if path.is_relative_to(base) else path) for path in found[:_MOST]]
    return [f"./{name}" if name.startswith("-") else name for name in names]
