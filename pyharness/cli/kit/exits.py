"""Ways out of this process that are no answer: we were told to end, or the user's code that runs in it exits."""

from __future__ import annotations

import traceback
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pyharness.model.errors import HarnessError

if TYPE_CHECKING:
    from collections.abc import Iterator


class ToldToEnd(SystemExit):
    """A signal has told us to end."""


@contextmanager
def no_exit() -> Iterator[None]:
    """``HarnessError`` where the user's code exits: its status would pass for what we found out."""
    try:
        yield
    except ToldToEnd:
        raise
    except SystemExit as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        raise HarnessError(
            f"{last.filename}:{last.lineno} exits ({error.code!r}) before there is a result.",
            "Return a value instead of exiting.",
        ) from error
