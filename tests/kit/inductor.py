"""Cache folders of torch's inductor that have what it asks of the C++ compiler before its first kernel.

It compiles and loads six files to learn which vector instructions it may use. In each new cache folder that takes more
processor time than all else that a small program compiles. Here it is asked once for a clone; each program still loads
what was made, and a folder has no graph and no kernel.
"""

import hashlib
import os
import shutil
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

from kit.builds import once
from kit.command import environment_of
from kit.paths import BUILT

_ASKING = "from torch._inductor.cpu_vec_isa import valid_vec_isa_list; valid_vec_isa_list()"


def cache(folder: Path) -> str:
    """``TORCHINDUCTOR_CACHE_DIR`` of a program; a folder that is there stays as it is."""
    if not folder.exists():
        shutil.copytree(_asked(), folder)
    return str(folder)


def filled(folder: Path, **scripts: str) -> Path:
    """``folder`` with these ``.py`` files, and pyharness's state in ``home``, for programs with ``--debug-kernels``."""
    for name, text in scripts.items():
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
    (folder / "home").mkdir(mode=0o700)
    cache(folder / "home" / "debug-kernels")
    return folder


def environment(folder: Path) -> dict[str, str]:
    """The environment of programs in a ``filled`` folder: each kernel is compiled once."""
    return {**environment_of(folder / "home"), "TORCHINDUCTOR_CACHE_DIR": cache(folder / "torch")}


def _asked() -> Path:
    key = hashlib.sha256(f"{version('torch')} {sys.version} {os.environ.get('CXX')}".encode()).hexdigest()[:16]
    return once(BUILT / f"vectors-{key}" / "cache", _ask)


def _ask(made: Path) -> None:
    environment = {**os.environ, "TORCHINDUCTOR_CACHE_DIR": str(made)}
    subprocess.run([sys.executable, "-c", _ASKING], env=environment, check=True)
