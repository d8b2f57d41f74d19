"""What the user's own code raises while we run it: theirs to mend, and told with its line."""

from __future__ import annotations

import sys
import traceback
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyharness.host.running_now import running
from pyharness.model.errors import HarnessError

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def theirs(thing: Any) -> Iterator[None]:
    """Run what belongs to ``thing``: what it raises is a ``HarnessError`` with the user's line."""
    try:
        with running(name_of(thing)):
            yield
    except HarnessError:
        raise
    except Exception as error:
        last = _last(error)
        message = f"{name_of(thing)} raises {type(error).__name__}: {error} ({last.filename}:{last.lineno})"
        raise HarnessError(message, "Mend it there: without pyharness it raises, too.") from error


def name_of(thing: Any) -> str:
    """How a function or a class is called; an object by its class."""
    return getattr(thing, "__name__", None) or type(thing).__name__


def _last(error: Exception) -> traceback.FrameSummary:
    frames = traceback.extract_tb(error.__traceback__)
    torch = getattr(sys.modules.get("torch"), "__file__", None)
    own = [frame for frame in frames if torch is None or not frame.filename.startswith(str(Path(torch).parent))]
    return (own or frames)[-1]
