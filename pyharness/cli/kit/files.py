"""Files that a verb writes: said to be impossible before the program runs, and named afterwards."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from pyharness.host.missing import check_no_loop, no_folder
from pyharness.host.whole_file import write_output
from pyharness.model.errors import HarnessError, UsageError
from pyharness.model.text.styled_line import Line
from pyharness.report import units

if TYPE_CHECKING:
    from collections.abc import Iterable


def check_outputs(files: dict[str, str | None], inputs: Iterable[str] = ()) -> None:
    """Before the program runs for an hour; ``files``: option → file to write, ``inputs``: what may not be written."""
    named: dict[str, str] = {}
    for option, file in files.items():
        if file is None:
            continue
        check_name(option, file)
        check_writable(file)
        if any(_are_one(file, each) for each in inputs):
            raise UsageError(f"{option} {file} would overwrite the program.", "Name another file to write.")
        for before, other in named.items():
            if _are_one(file, other):
                raise UsageError(f"{before} and {option} name one file, {file}.", "Name a file for each.")
        named[option] = file


def _are_one(file: str, other: str) -> bool:
    """Whether what is written to one is lost from the other: a device or a pipe loses nothing."""
    if Path(file).exists() and Path(other).exists():
        return Path(file).samefile(other) and Path(file).is_file()
    return os.path.realpath(file) == os.path.realpath(other)


def check_name(option: str, name: str) -> None:
    """Raise where ``name`` names nothing to write, or means standard output, which is the program's."""
    if not name.strip():
        raise UsageError(f"{option} {name!r} names nothing.", "Name what to write.")
    if name == "-":
        raise UsageError(f"{option} does not write to standard output, which is the program's.", "Name what to write.")


def check_writable(file: str) -> None:
    """Before the program runs for an hour."""
    path = Path(file)
    check_no_loop(path, file)
    if path.is_dir():
        raise UsageError(f"{file!r} is a folder.", "Name a file to write.")
    if not path.parent.is_dir():
        raise no_folder(path.parent, path.name)
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise UsageError(f"{file} cannot be written: no permission.", "Name a file that you may write.")


def check_new_folder(folder: str) -> None:
    """Check that ``folder`` can be written, before the program runs for an hour; it may exist already."""
    path = Path(folder)
    if path.exists() and not path.is_dir():
        raise UsageError(f"{folder!r} is a file.", "Name a folder to write.")
    if not path.parent.is_dir():
        raise no_folder(path.parent, path.name)


def write_file(file: str, text: str, advice: str) -> Line:
    """Write it; a line that says so, and what to do with it."""
    try:
        write_output(Path(file), text.encode())
    except OSError as error:
        raise HarnessError(
            f"{file} cannot be written: {error.strerror}.", "Name another file, or make room."
        ) from error
    return Line(f"{file}: {units.size(len(text))}, {advice}")
