"""Peers that are not in any environment of ours: a script each brings one below ``.setup/peers``, pinned."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
WHERE = HERE.parent.parent / ".setup" / "peers"


def bring(name: str) -> str:
    """Make the Python packages of peer ``name`` importable; why not, if they are not available."""
    path, reason = fetch(name)
    if path and path not in sys.path:
        sys.path.append(path)  # last: what is installed here comes first
    return reason


def fetch(name: str) -> tuple[str, str]:
    """The folder that has peer ``name``, or an empty one and why it is not available."""
    script, folder = HERE / f"{name}.sh", WHERE / name
    done = subprocess.run(
        [script, folder, sys.executable], capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False
    )
    if done.returncode:
        return "", (done.stderr.strip().splitlines() or [f"{script.name} failed"])[-1]
    return done.stdout.strip(), ""
