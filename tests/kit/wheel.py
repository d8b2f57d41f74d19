"""The wheel, made as `make wheel` makes it, and environments that have it installed."""

import hashlib
import os
import subprocess
import sys
import zipfile
from pathlib import Path

from kit.builds import once
from kit.paths import BUILT, ROOT

_MADE_OF = ("setup.py", "pyproject.toml", "MANIFEST.in", "README.md", "csrc/**/*.[hc]*", "pyharness/**/*")
_TOOLS = ("bash", "cat", "env", "gdb", "ls", "sh")
"""What is on the PATH of a machine without a compiler."""


def wheel() -> Path:
    """The wheel of this tree, made once for each content."""
    folder = BUILT / f"wheel-{_digest()}"
    made = once(folder / "made", lambda mark: _make(folder, mark))
    (found,) = made.parent.glob("*.whl")
    return found


def unpacked(folder: Path) -> Path:
    """A folder with what the wheel has, to import from."""
    with zipfile.ZipFile(wheel()) as archive:
        archive.extractall(folder)
    return folder


def without_compiler(folder: Path) -> dict[str, str]:
    """An environment on whose PATH there is no compiler."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in _TOOLS:
        for place in ("/usr/bin", "/bin", "/usr/local/bin"):
            if Path(place, name).exists() and not (folder / name).exists():
                (folder / name).symlink_to(Path(place, name))
    kept = {name: value for name, value in os.environ.items() if name not in {"CXX", "CC", "PYTHONPATH"}}
    return {**kept, "PATH": str(folder)}


def _digest() -> str:
    found = hashlib.sha256()
    for path in sorted({path for pattern in _MADE_OF for path in ROOT.glob(pattern)}):
        if path.is_file() and not path.is_symlink() and path.suffix not in {".so", ".pyc"}:
            found.update(str(path.relative_to(ROOT)).encode() + path.read_bytes())
    return found.hexdigest()[:16]


def _make(folder: Path, mark: Path) -> None:
    raw = folder / "raw"
    _run(sys.executable, "-m", "build", "--no-isolation", "--wheel", "--outdir", raw, ROOT)
    (built,) = raw.glob("*.whl")
    _run(sys.executable, "-m", "auditwheel", "repair", "--wheel-dir", folder, built)
    mark.touch()


def _run(*words: object) -> None:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        list(map(str, words)), capture_output=True, text=True, check=False, env={**os.environ, "PATH": path}
    )
    assert not done.returncode, done.stdout + done.stderr
