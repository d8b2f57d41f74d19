"""Asks all hosts of a job again and again, until it has ended."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from pyharness.ranks.store.asking import ask
from pyharness.ranks.store.missing import GoneError, NobodyError, SilentError, UnreachableError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyharness.model.errors import HarnessError
    from pyharness.ranks.store.asking import Answered, Asked

BEGINS_ANEW = 60.0
"""Seconds for which a store without ranks may be that of a job that its launcher begins anew."""


def ask_again(asked: Asked) -> Iterator[Answered | HarnessError]:
    """All ranks as they stand, each time that it is wanted, or why none are shown this time; ends with the job.

    `HarnessError` where there is nothing to be seen at first, or something else than the job's end is in the way.
    """
    found: Answered | HarnessError | None = ask(asked)
    seen = time.monotonic()
    while found is not None:
        yield found
        found = _found(asked)
        if not isinstance(found, NobodyError):
            seen = time.monotonic()
        elif time.monotonic() - seen > BEGINS_ANEW:
            if isinstance(found, UnreachableError):
                raise found
            return


def _found(asked: Asked) -> Answered | HarnessError | None:
    """``None`` where the job has ended."""
    try:
        return _asked_twice(asked)
    except (SilentError, NobodyError) as error:
        return error
    except GoneError:
        return None


def _asked_twice(asked: Asked) -> Answered:
    """A store of an older torch closes a connection now and then."""
    try:
        return ask(asked)
    except GoneError:
        return ask(asked)
