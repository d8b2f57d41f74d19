"""Puts a report into its folder, as text, JSON and a page, and says so on the program's stderr."""

from __future__ import annotations

import itertools
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

from pyharness.aftermath.page import page
from pyharness.host.whole_file import write_whole
from pyharness.model.errors import HarnessError
from pyharness.model.results.aftermath_text import report_lines, short_lines
from pyharness.model.text.source_line import short_path
from pyharness.model.text.styled_line import painted
from pyharness.model.text.visible import say, visible

if TYPE_CHECKING:
    from pyharness.model.results.aftermath import Aftermath

_NO_NAME = re.compile(r"[^A-Za-z0-9_.-]+")
_MAX_NAME = 60


def write(found: Aftermath, folder: str) -> Path:
    """The files of a report; the one for people."""
    text = "".join(f"{painted(line, colour=False)}\n" for line in report_lines(found))
    whole = json.dumps(found.to_json(), indent=1)
    return write_files(Path(folder), _free_name(folder, found), text, whole, visible(page(found)))


def _free_name(folder: str, found: Aftermath) -> str:
    """A name that no other error of the process has: a sanitizer may find several, and the program runs on."""
    names = (name_of(found, number) for number in itertools.count(1))
    if found.kind != "sanitizer":
        return next(names)
    return next(name for name in names if not (Path(folder) / f"{name}.json").exists())


def write_files(folder: Path, name: str, text: str, as_json: str, html: str) -> Path:
    """Three files of that name; the one with the text."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for ending, content in ((".json", as_json), (".html", html), (".txt", text)):
            write_whole(folder / f"{name}{ending}", content.encode("utf-8", "backslashreplace"))
    except OSError as error:
        raise HarnessError(f"No report: {folder}: {error.strerror}.", "Name another folder, or make room.") from error
    return folder / f"{name}.txt"


def name_of(found: Aftermath, number: int = 1) -> str:
    """A name for its files: what happened, the how manieth, the rank, the program, the process."""
    rank = f"-rank{found.rank}" if found.rank is not None else ""
    last = found.name.rpartition("::")[2] if "::" in found.name else Path(found.name).name
    program = _NO_NAME.sub("_", last)[:_MAX_NAME].strip("._") or "program"
    return f"{found.kind}{f'-{number}' if number > 1 else ''}{rank}-{program}-{found.pid}"


def name_of_ranks(kind: str, host: str, launcher: int) -> str:
    """A name for the files of all ranks of a host: hosts may share a folder, and have the same process ids."""
    return f"ranks-{kind}-{_NO_NAME.sub('_', host)}-{launcher}"


def tell(found: Aftermath, file: Path | None) -> None:
    """Say what happened and where the report is, if there is one."""
    lines = [painted(line, colour=False) for line in short_lines(found)]
    say("\n".join([*lines, *([f"report: {short_path(str(file))}"] if file else [])]))
