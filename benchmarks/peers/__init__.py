"""Peers that are not in any environment of ours: a script each brings one below ``.setup/peers``, pinned."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
WHERE = HERE.parent.parent / ".setup" / "peers"
SEAM = "seam-debugger==0.1.2"
STACKS = ("pystack==1.7.2", "py-spy==0.4.3")  # as stack.sh has them


def bring(name: str) -> str:
    """Make the Python packages of peer ``name`` importable; why not, if they are not available."""
    path, reason = fetch(name)
    if path and path not in sys.path:
        sys.path.append(path)  # last: what is installed here comes first
    return reason


def stack_readers() -> tuple[dict[str, list[str]], str]:
    """What shows the stack of the process that is named behind it, by name; or nothing, and why they are not there."""
    found, reason = fetch("stack")
    if reason:
        return {}, reason
    return {
        "pystack remote --native": [f"{found}/pystack", "remote", "--native"],
        "py-spy dump --native": [f"{found}/py-spy", "dump", "--native", "--pid"],
    }, ""


def fetch(name: str, python: str = "") -> tuple[str, str]:
    """What the script of peer ``name`` prints: its folder or command; or nothing, and why it is not available.

    ``python`` is the interpreter that it is for: this one where none is named.
    """
    script, folder = HERE / f"{name}.sh", WHERE / name
    done = subprocess.run(
        [script, folder, python or sys.executable],
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        check=False,
    )
    if done.returncode:
        return "", (done.stderr.strip().splitlines() or [f"{script.name} failed"])[-1]
    return done.stdout.strip(), ""
