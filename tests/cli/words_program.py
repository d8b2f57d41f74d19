"""Where tests/programs/session_words.py has its marks."""

from kit.marks import line_of, place
from kit.paths import PROGRAMS

WORDS = str(PROGRAMS / "session_words.py")


def marked(mark, program=WORDS):
    """The line of ``program`` that ends in ``# @mark``."""
    return line_of(mark, program)


def at(mark, program=WORDS):
    """The place of a mark."""
    return place(mark, program)
