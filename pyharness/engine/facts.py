"""What the engine is built against: an interpreter and its torch, which is found and not imported.

The interpreter may lack pyharness: ``python facts.py`` prints what ``here`` says, as a line of JSON. So it needs the
standard library only.
"""

from __future__ import annotations

import importlib.util
import json
import re
import runpy
import sys
import sysconfig
from pathlib import Path
from typing import NamedTuple

MARK = "pyharness-engine: "
"""Begins the line that is the answer: a ``sitecustomize`` may print, too."""
_LIBRARIES = ("libc10.so", "libtorch_cpu.so", "libtorch_python.so")
_NEW_ABI = re.compile(rb"_ZNK?3c10[\w]*__cxx11")
"""A function of c10's that takes a ``std::string`` of the newer C++ ABI."""


class Facts(NamedTuple):
    """One interpreter with one build of torch."""

    suffix: str
    """How its extension modules end: ``.cpython-311-x86_64-linux-gnu.so``."""
    include: str
    """The folder of ``Python.h``, which may not be there."""
    torch: str
    """The folder of the package torch."""
    version: str
    """Torch's version, such as ``2.13.0+cpu``."""
    build: str
    """What tells builds of one version apart: commit, CUDA, ROCm, the sizes of its libraries."""
    abi: int
    """Torch's ``_GLIBCXX_USE_CXX11_ABI``."""

    @property
    def named(self) -> str:
        """A person's words for it."""
        return f"torch {self.version} and Python {'.'.join(_python_of(self.suffix))}"


def here() -> Facts | None:
    """The facts of this interpreter; ``None`` where it has no torch."""
    spec = importlib.util.find_spec("torch")
    if spec is None or spec.origin is None:
        return None
    torch = Path(spec.origin).parent
    libraries = [torch / "lib" / name for name in _LIBRARIES]
    if not all(library.is_file() for library in libraries):
        return None
    told = runpy.run_path(str(torch / "version.py"))
    build = [str(told.get(name)) for name in ("git_version", "cuda", "hip", "debug")]
    build += [str(library.stat().st_size) for library in libraries]
    return Facts(
        str(sysconfig.get_config_var("EXT_SUFFIX")),
        sysconfig.get_paths()["include"],
        str(torch),
        str(told["__version__"]),
        " ".join(build),
        int(_NEW_ABI.search(libraries[0].read_bytes()) is not None),
    )


def _python_of(suffix: str) -> tuple[str, ...]:
    found = re.search(r"-(\d)(\d+)(t?d?)-", suffix)
    return (found[1], found[2] + found[3]) if found else (suffix,)


def main() -> None:
    """Print them; the folder of this file, which Python has put first, has none of the program's modules."""
    if not getattr(sys.flags, "safe_path", False):
        del sys.path[0]
    print(MARK + json.dumps(here()))


if __name__ == "__main__":
    main()
