"""What the session tests share: a session file written in the test."""

from pathlib import Path

import pytest

PROGRAMS = Path(__file__).parent.parent / "programs"
WORDS = PROGRAMS / "session_words.py"


@pytest.fixture
def session(tmp_path):
    """Write a session file; ``{WORDS}`` in it is the program's path."""

    def write(text, name="it.toml"):
        path = tmp_path / name
        path.write_text(text.replace("{WORDS}", str(WORDS)))
        return str(path)

    return write
