"""Bytecode of our modules, kept where Python itself would compile them at each start."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager, suppress
from importlib.util import cache_from_source
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def kept(beside: str, *, anyway: bool = False) -> Iterator[None]:
    """Have what is imported meanwhile compiled once: to compile our modules takes longer than all else at start.

    Python keeps nothing where it is told so (``PYTHONDONTWRITEBYTECODE``, as in many images), nor beside what others
    have installed. It is left alone where it finds the bytecode of the file ``beside``, as pip makes it for one
    version, but not ``anyway``.
    """
    before = sys.dont_write_bytecode, sys.pycache_prefix
    keeps_nothing = sys.dont_write_bytecode or not os.access(Path(beside).parent, os.W_OK)
    if keeps_nothing and (anyway or not Path(cache_from_source(beside)).exists()):
        from pyharness.host.state import StateError, state_dir

        with suppress(StateError):
            sys.dont_write_bytecode, sys.pycache_prefix = False, str(state_dir("bytecode"))
    try:
        yield
    finally:
        sys.dont_write_bytecode, sys.pycache_prefix = before
