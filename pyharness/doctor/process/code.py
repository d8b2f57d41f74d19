"""What a process runs: its Python, its torch and the user's libraries in it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from pyharness.doctor.binaries.library import library
from pyharness.doctor.binaries.torch_symbols import uses_torch
from pyharness.doctor.process.live_process import process_checks
from pyharness.doctor.registry import Area
from pyharness.doctor.tested import TORCH, parsed
from pyharness.doctor.torch import works_untested
from pyharness.host.visible import is_file
from pyharness.model.errors import HarnessError
from pyharness.model.user_code import is_user_binary
from pyharness.reading.process.file_changes import of_path, remedy
from pyharness.reading.python.runtime import find_python

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyharness.doctor.process.live_process import LiveProcess
    from pyharness.model.results.diagnosis import Diagnosis
    from pyharness.reading.binaries.elf import Elf

PYTHON, TORCH_AREA, EXTENSION = Area("Python"), Area("torch"), Area("extension")
_HALF = "Only the native half of its stacks can be shown."
_VERSION = re.compile(r"^__version__ = ['\"]([^'\"]+)", re.MULTILINE)


@process_checks.add(PYTHON, "python")
def python(process: LiveProcess) -> Iterator[Diagnosis]:
    """Which Python it runs, and whether its stacks can be read: from its memory, as it runs on."""
    try:
        memory = process.memory()
    except PermissionError:
        yield PYTHON.inapplicable("python", "Its memory cannot be read.")
        return
    try:
        found = find_python(memory, process.loaded())
    except HarnessError as error:
        yield PYTHON.failed("python", error)
        return
    if found is None:
        yield PYTHON.warning("python", "It runs no CPython whose state can be found.", _HALF)
        return
    version = ".".join(map(str, found.layout.version))
    yield PYTHON.ok("python", f"It runs CPython {version}, whose stacks can be read from its memory.")


@process_checks.add(TORCH_AREA, "torch")
def torch(process: LiveProcess) -> Iterator[Diagnosis]:
    """Which torch it has imported."""
    found = next((image for image in process.images if image.path.endswith("/libtorch_cpu.so")), None)
    if found is None:
        yield TORCH_AREA.inapplicable("torch", "It has not imported torch, or not yet.")
        return
    if found.deleted:
        seen = f"{found.path} was replaced after the process loaded it."
        yield TORCH_AREA.problem("torch", seen, "Start the program anew.")
        return
    file = Path(process.root + found.path).parent.parent / "version.py"
    text = file.read_text(encoding="utf-8", errors="replace") if is_file(file) else ""
    version = said[1] if (said := _VERSION.search(text)) else ""
    if not version:
        yield TORCH_AREA.ok("torch", f"It has loaded {found.path}.")
    elif TORCH.too_old(parsed(version)) or TORCH.untried(parsed(version)):
        seen = f"It has torch {version}; {TORCH} was tested."
        yield TORCH_AREA.warning("torch", seen, works_untested(parsed(version)))
    else:
        yield TORCH_AREA.ok("torch", f"It has torch {version}, which was tested.")


@process_checks.add(EXTENSION, "extensions")
def extensions(process: LiveProcess) -> Iterator[Diagnosis]:
    """The user's libraries that it has loaded."""
    none = True
    for image in process.images:
        if ".so" not in Path(image.path).name or not is_user_binary(image.path):
            continue
        area = EXTENSION.about(image.path)
        if image.deleted:
            none = False
            became = of_path(image.path, deleted=True)
            seen = f"It {became}: nothing can be said of its code."
            yield area.problem("file", seen, f"{remedy(became).capitalize()} to debug it.")
            continue
        elf = process.open(image.path)
        if elf and _is_extension(elf):
            none = False
            yield from library(area, elf, process.root)
    if none:
        yield EXTENSION.inapplicable("extensions", "It has not loaded a library of yours, or not yet.")


def _is_extension(elf: Elf) -> bool:
    """Whether it uses torch, or can be debugged: not every library in an environment is the user's."""
    return uses_torch(elf) or elf.with_section(".debug_line") is not None
