"""What the tests of other people's clients share: a session, and nothing left of it."""

import pytest
from client_session import Session


@pytest.fixture
def session(tmp_path):
    """A session to run; afterwards no process of it is left."""
    made = Session(tmp_path)
    yield made
    left = made.left_behind()
    assert not left, f"left behind: {left}"
