"""What the session tests share: a session file written in the test."""

import pytest

from kit.paths import PROGRAMS

WORDS = PROGRAMS / "session_words.py"


@pytest.fixture
def session(tmp_path):
    """Write a session file; ``{WORDS}`` in it is the program's path."""

    def write(text, name="it.toml"):
        path = tmp_path / name
        path.write_text(text.replace("{WORDS}", str(WORDS)))
        return str(path)

    return write
