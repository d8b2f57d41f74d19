"""Where tests/programs/session_words.py has its marks."""

from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
PROGRAMS = ROOT / "tests" / "programs"
WORDS = str(PROGRAMS / "session_words.py")


def marked(mark, program=WORDS):
    """The line of ``program`` that ends in ``# @mark``."""
    lines = Path(program).read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if line.endswith(f"# @{mark}"))


def at(mark, program=WORDS):
    """The place of a mark."""
    return f"py:{program}:{marked(mark, program)}"
