"""Standard output and error as they come: closed, or of an encoding that lacks the signs that we print."""

from __future__ import annotations

import codecs
import io
import os
import sys

from pyharness.host.descriptors import hold_streams

_PLAIN = str.maketrans({"→": "->", "←": "<-", "…": "...", "·": "-", "│": "|", "⋯": "...", "↕": "^v", "•": "*"})
_HANDLER = "pyharness.plain"


def prepare() -> None:
    """Before anything is opened or printed."""
    hold_streams()  # until the end; a program that we start has them closed, as we found them
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # closed by whoever started us
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123, SIM115  (open until the end)
        elif isinstance(stream, io.TextIOWrapper) and codecs.lookup(stream.encoding).name != "utf-8":
            codecs.register_error(_HANDLER, _plain)
            stream.reconfigure(errors=_HANDLER)


def _plain(error: UnicodeError) -> tuple[str, int]:
    """What can be printed instead of what cannot."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text = error.object[error.start : error.end].translate(_PLAIN)
    return text.encode("ascii", "replace").decode("ascii"), error.end
