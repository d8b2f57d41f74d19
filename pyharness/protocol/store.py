"""What a job's store holds of ours: who can be asked, questions, answers. A question is a number, and whose it is.

No key of a program's begins so: torch's ``TCPStore`` puts a ``/`` in front of each of theirs.
"""

from __future__ import annotations

from pyharness.model.frozen import frozen

_OURS = "pyharness/2/"
"""The number is this protocol's version: who speaks another one is not heard of."""
HOSTS = f"{_OURS}hosts"
"""A line of JSON for each process that answers, a ``Host``, and another one when it goes."""
ASKED = f"{_OURS}asked"
"""How many questions there were so far."""
VARIABLE = "PYHARNESS_STORE"
"""In the environment of `pyharness run`: ``1`` where the program's ranks shall answer."""


def question(number: int) -> str:
    """The key that is set once a question is asked, to the name of the job that it is for (``asked_of``)."""
    return f"{_OURS}question/{number}"


def asked_of(job: str) -> bytes:
    """What a question for a job is set to; ranks of others leave it."""
    return f"of {job}".encode("utf-8", "backslashreplace")


def claim(number: int, host: str) -> str:
    """The key that counts who has begun to answer for a host."""
    return f"{_OURS}claim/{number}/{host}"


def answer(number: int, host: str) -> str:
    """The key of a host's ``Answer``."""
    return f"{_OURS}answer/{number}/{host}"


def clocks_asked(run: str) -> str:
    """The key that counts how often a run of the job has been asked for the first rank's time."""
    return f"{_OURS}clocks/{run}/asked"


def clock_question(run: str, number: int) -> str:
    """The key that is set once the first rank is asked for its time."""
    return f"{_OURS}clocks/{run}/question/{number}"


def clock_answer(run: str, number: int) -> str:
    """The key of that time, in nanoseconds since the epoch."""
    return f"{_OURS}clocks/{run}/answer/{number}"


def part(number: int, by: str, index: int) -> str:
    """The key of a part of an answer: compressed JSON, as `pyharness ranks --json` prints it."""
    return f"{_OURS}part/{number}/{by}/{index}"


@frozen
class Host:
    """A process that answers for the ranks beside it."""

    host: str
    """A name that all ranks of a job have in common that see the same processes."""
    name: str
    """What people call it."""
    by: str
    """The process, unlike any other of the job."""
    rank: int
    """The rank that has started it."""
    world: int | None = None
    """How many ranks its try of the job has, as the launcher says."""
    job: str = ""
    """What tells the job from others at this store; empty for one that its launcher gives no name."""
    is_gone: bool = False
    """Whether this is its last line."""


@frozen
class Answer:
    """What one host says to one question."""

    by: str
    """Whose parts to read."""
    parts: int
    """How many; none where the ranks could not be looked at."""
    error: str = ""
    """Why not."""
