"""Comes into a program that was not started by us: it listens under a handle from now on, as if it had been."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any


def start(packages: dict[str, str], home: str) -> dict[str, Any]:
    """Listen; the card of the handle (``Handle``), as data.

    ``packages`` says in which folder to find what this Python lacks, ``home`` where the controller looks for handles.
    """
    _make_importable(packages)
    from dataclasses import asdict

    from pyharness.debuggee import served
    from pyharness.model.handles import default_name

    here = served.current()
    if here is None:
        words = getattr(sys, "orig_argv", [sys.executable])[1:]
        script = next((word for word in words if not word.startswith("-")), "program")
        here = served.Served(default_name(script, os.getpid()), " ".join(words), folder=home)
        here.start()
    return asdict(here.handle)


def _make_importable(packages: dict[str, str]) -> None:
    """As ``entry.make_importable``, which cannot be imported before."""
    from importlib.util import find_spec, module_from_spec, spec_from_file_location

    missing = {name: folder for name, folder in packages.items() if find_spec(name) is None}
    spec = spec_from_file_location("_pyharness_entry", Path(__file__).with_name("entry.py"))
    if missing and spec is not None and spec.loader is not None:
        entry = module_from_spec(spec)
        spec.loader.exec_module(entry)
        entry.make_importable(missing)
