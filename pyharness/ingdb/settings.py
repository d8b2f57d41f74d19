"""gdb settings for the time of a block."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import gdb

from pyharness.ingdb import console

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def temporarily(name: str, value: str) -> Iterator[None]:
    """``set NAME VALUE``, and what it was before at the end; nothing where this gdb has no such setting."""
    try:
        before = gdb.parameter(name)
    except RuntimeError:
        yield
        return
    if isinstance(before, bool):
        before = "on" if before else "off"
    if before == value:
        yield
        return
    console.run(f"set {name} {value}")
    try:
        yield
    finally:
        console.run(f"set {name} {'auto' if before is None else before}")
