"""An answer as the values of a store: JSON, compressed, in parts that every torch's store takes."""

from __future__ import annotations

import zlib

PART = 1 << 20
"""Bytes of a value: torch's store refuses one of more than eight times as much."""
MOST = 64
"""Parts of an answer."""
LONGEST = 512 << 20
"""Bytes of the JSON of one host."""


def packed(text: str) -> list[bytes]:
    """The parts of a text; ``ValueError`` where it is too long."""
    whole = zlib.compress(text.encode("utf-8", "backslashreplace"), 6)
    parts = [whole[at : at + PART] for at in range(0, len(whole), PART)]
    if len(parts) > MOST:
        raise ValueError(f"its ranks are {len(whole) >> 20} MiB of JSON, compressed, and {MOST * PART >> 20} are sent")
    return parts


def unpacked(parts: list[bytes]) -> str:
    """The text; ``ValueError`` for what is none, or is too long."""
    reader = zlib.decompressobj()
    try:
        whole = reader.decompress(b"".join(parts), LONGEST)
    except zlib.error as error:
        raise ValueError(str(error)) from error
    if not reader.eof:
        raise ValueError("it is cut off" if not reader.unconsumed_tail else "it is too long")
    return whole.decode()
