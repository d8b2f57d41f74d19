"""gdb settings for the time of a block."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import gdb

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
    gdb.execute(f"set {name} {value}", to_string=True)
    try:
        yield
    finally:
        gdb.execute(f"set {name} {'auto' if before is None else before}", to_string=True)
