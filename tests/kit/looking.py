"""A program whose C++ function ``look`` has values to look at: it stands at the line marked ``@look``."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyharness
from kit import builds
from kit.marks import line_of
from pyharness.debugger.api.program import Program


@contextmanager
def looking(library: Path, folder: Path) -> Iterator[Program]:
    """The program, before its first line, whose script lies in ``folder``: it calls ``look`` of that library."""
    script = folder / "looks.py"
    script.write_text(f"import ctypes\nctypes.CDLL({str(library)!r}).look()\n")
    with pyharness.debug(str(script)) as program:
        yield program


@contextmanager
def standing(source: Path, folder: Path, *flags: str, mark: str = "look") -> Iterator[Program]:
    """The program, whose script lies in ``folder``; ``flags`` are for the compiler of ``source``."""
    library = builds.compiled(source, ".so", "-O0", "-g", "-fPIC", "-shared", *flags)
    with looking(library, folder) as stopped:
        stopped.run_to(f"native:{source.name}:{line_of(mark, source)}")
        yield stopped
