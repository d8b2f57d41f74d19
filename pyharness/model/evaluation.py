"""What an expression may be, how long it may take, and in which frame: one check of each for every front door."""

from __future__ import annotations

from pyharness.model.errors import UsageError

EVAL_TIMEOUT = 5.0
"""Seconds."""
END_SIGNAL = "SIGWINCH"
"""Ends a call that gdb makes into the program. One that comes late does nothing to a program that knows no windows."""
LEVELS = "Levels count frames outwards, from 0."
_MOST = 86400.0


def checked_timeout(seconds: float) -> float:
    """The time limit that a person asked for; ``UsageError`` where it is none."""
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)) or not 0 < seconds <= _MOST:
        raise UsageError(
            f"The time limit of an expression cannot be {_shown(seconds)} s.",
            "Give seconds, e.g. 5; more than 0, a day at most.",
        )
    return seconds


def checked_level(level: int, count: int) -> int:
    """Which of ``count`` frames a person means, counted outwards from 0; ``UsageError`` where there is none."""
    if not isinstance(level, int) or level < 0:
        raise UsageError(f"There is no frame {level!r}.", LEVELS)
    if level >= count:
        frames = "1 frame" if count == 1 else f"{count} frames"
        raise UsageError(f"There is no frame {level!r}: the thread has {frames} here.", LEVELS)
    return level


def checked_text(text: str) -> str:
    """What a person typed to be evaluated; ``UsageError`` for what no source of any language can have."""
    wrong = next((letter for letter in text if letter == "\0" or "\ud800" <= letter <= "\udfff"), "")
    if wrong:
        what = "a surrogate that stands alone" if ord(wrong) else "a null character"
        raise UsageError(
            f"{text!r} cannot be evaluated: it has {what}.", f"Write it as an escape: '\\u{ord(wrong):04x}'."
        )
    return text


def _shown(seconds: float) -> str:
    try:
        return f"{seconds:g}"
    except OverflowError:  # a whole number may be larger than any float
        return "so many"
    except (TypeError, ValueError):
        return repr(seconds)
