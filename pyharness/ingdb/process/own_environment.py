"""Keeps what is for gdb's own Python from the programs that gdb starts.

A gdb that pip has installed, as that of the extra ``[gdb]``, has the home and the path of its own environment in
PYTHONHOME and PYTHONPATH. A Python that gets them takes its standard library for somebody's project.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_ENVIRONMENTS = {"site-packages", "dist-packages"}


def register() -> None:
    """Do so from now on."""
    import gdb

    from pyharness.ingdb import console

    for name, value in changed(os.environ, str(gdb.parameter("data-directory"))).items():
        console.run(f"set environment {name} = {value}" if value else f"unset environment {name}")


def changed(environment: Mapping[str, str], data_directory: str) -> dict[str, str]:
    """What is to be another value, or none, in the program, for a gdb whose own files lie in that folder."""
    home, folder = environment.get("PYTHONHOME", "").partition(os.pathsep)[0], Path(data_directory)
    if not home or not folder.is_relative_to(home) or _ENVIRONMENTS.isdisjoint(folder.parts):
        return {}
    return {"PYTHONHOME": "", "PYTHONNOUSERSITE": "", "PYTHONPATH": _users(environment.get("PYTHONPATH", ""))}


def _users(path: str) -> str:
    """What was there before: ``sys.path`` has it between the script's folder and the standard library's archive."""
    folders = path.split(os.pathsep)
    ends = [number for number, each in enumerate(folders) if each.endswith(".zip") and "/python" in each]
    return os.pathsep.join(folders[1 : ends[-1]] if ends else [])
