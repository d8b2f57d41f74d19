"""The user's extensions: whether they can be debugged, and belong to this Python and this torch."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from pyharness.doctor.binaries.extensions_found import Extension, extensions
from pyharness.doctor.binaries.library import library
from pyharness.doctor.binaries.torch_symbols import cause, readable, unresolved, uses_torch
from pyharness.doctor.machine import answered, machine_checks
from pyharness.doctor.registry import Area
from pyharness.reading.binaries.elf import Elf, ElfError, open_elf

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyharness.doctor.machine import Machine
    from pyharness.model.results.diagnosis import Diagnosis

AREA = Area("extension")
_TAG = re.compile(r"\.((?:cpython|pypy|graalpy|cp)[^.]*|abi3[^.]*)\.so$")
_NAME_ONE = "Build it first (`pyharness init` adds a debug build), or name it: --extension PATH|MODULE."


@machine_checks.add(AREA, "extensions")
def found(machine: Machine) -> Iterator[Diagnosis]:
    """Each of them."""
    chosen = extensions(machine)
    if not chosen:
        seen = f"No library in {machine.wanted.project.resolve()} links to libtorch."
        yield AREA.inapplicable("extensions", seen, _NAME_ONE)
    for extension in chosen:
        yield from _extension(machine, extension)


def _extension(machine: Machine, extension: Extension) -> Iterator[Diagnosis]:
    area = AREA.about(extension.path)
    if extension.error:
        yield area.problem("file", f"It was not found: {extension.error}.", _NAME_ONE)
        return
    try:
        elf = open_elf(str(Path(extension.path).resolve()))
    except ElfError as error:
        yield area.failed("file", error)
        return
    if elf.is_cut_short:
        seen = f"The file is cut short: its header speaks of more than the {len(elf.data):,} bytes that are there."
        yield area.problem("file", seen, "Build it or copy it again; was the disk full?")
        return
    yield _tag(area, extension, answered(lambda: machine.python))
    yield from library(area, elf)
    yield _torch(area, elf, machine)


def _tag(area: Area, extension: Extension, python: dict[str, str]) -> Diagnosis:
    """Whether the name of the file is one that this interpreter looks for."""
    tag = _TAG.search(extension.path)
    name = Path(extension.path).name
    if tag is None or tag[1].startswith("abi3"):
        return area.ok("file", f"It was {extension.how}; its name asks for no particular Python.")
    if extension.path.endswith(python["suffix"]):
        return area.ok("file", f"It was {extension.how}, and is built for this Python ({tag[1]}).")
    seen = f"It was built for another Python: {name} has not the ending that {python['version']} looks for"
    return area.problem("file", f"{seen}, {python['suffix']}.", "Rebuild it with the interpreter of your program.")


def _torch(area: Area, elf: Elf, machine: Machine) -> Diagnosis:
    """Whether torch has what it wants."""
    folder = machine.torch_libraries
    if folder is None and uses_torch(elf):
        seen = f"It needs torch, which is not installed in {machine.wanted.python}."
        return area.problem(
            "linked-torch", seen, "Name the interpreter of your program with --python, or install torch."
        )
    if folder is None:
        return area.inapplicable("linked-torch", "It does not need torch, and there is none.")
    missing = unresolved(elf, folder)
    if not missing:
        return area.ok("linked-torch", "The torch that is installed defines all that it wants of torch.")
    what = f"{len(missing)} functions or variables of torch that it wants are" if len(missing) > 1 else "What it wants"
    seen = f"{what}{'' if len(missing) > 1 else ' of torch is'} not in the torch that is installed: "
    return area.problem("linked-torch", f"{seen}{readable(missing[0])}.", cause(missing))
