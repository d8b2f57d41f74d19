"""Matches what a session expects as a pattern, within a time: a pattern that backtracks would search for years.

Python's ``re`` cannot be told to give up. So a pattern with several repetitions or choices, and any in a long text,
is matched by a Python of its own, which is ended when its time is over.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys

from pyharness.model.errors import HarnessError

PATIENCE = 5.0
"""Seconds that a match may take."""
_LONG = 10_000
_BRANCHES = re.compile(r"[*+?{|]")
"""One of them alone makes no more attempts than there are stretches of text."""
_CODE = "import json, re, sys; print(re.search(*json.load(sys.stdin), re.DOTALL) is not None)"


def matches_text(pattern: str, got: str) -> bool:
    """``~text`` is found as it stands, anything else as a regular expression; ``HarnessError`` after ``PATIENCE``."""
    if pattern.startswith("~"):
        return pattern[1:] in got
    if len(got) <= _LONG and len(_BRANCHES.findall(pattern)) <= 1:
        return re.search(pattern, got, re.DOTALL) is not None
    return _within_patience(pattern, got)


def _within_patience(pattern: str, got: str) -> bool:
    try:
        done = subprocess.run(
            [sys.executable, "-I", "-S", "-c", _CODE],
            input=json.dumps([pattern, got]),
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=True,
            start_new_session=True,  # Ctrl-C is for us: we end it
        )
    except subprocess.TimeoutExpired as error:
        raise HarnessError(
            f"The pattern {pattern!r} could not be matched with {len(got):,} characters within {PATIENCE:g} s.",
            "Let no part of it match the same text in several ways, as (a+)+ does; ~TEXT finds text as it stands.",
        ) from error
    except (OSError, subprocess.CalledProcessError) as error:
        raise HarnessError(f"The pattern {pattern!r} could not be matched: {error}.", "Write ~TEXT instead.") from error
    return done.stdout.strip() == "True"
