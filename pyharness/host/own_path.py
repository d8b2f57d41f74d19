"""PYTHONPATH is for the user's program: what the command line itself imports is found elsewhere first."""

from __future__ import annotations

import os
import sys


def put_users_last() -> None:
    """Have a ``click.py`` or a ``json.py`` of the user's not be ours; where only they have a module, it is found."""
    users = _users()
    sys.path[:] = [*(each for each in sys.path if each not in users), *users]


def put_users_first() -> None:
    """Restore Python's own order, for code of the user's that runs in this process."""
    users = _users()
    own = sys.path[:1] if sys.path[:1] and sys.path[0] not in users else []
    sys.path[:] = [*own, *users, *(each for each in sys.path[len(own) :] if each not in users)]


def _users() -> list[str]:
    """The folders on the path that PYTHONPATH names, in its order."""
    if sys.flags.ignore_environment:
        return []
    named = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    wanted = [os.path.abspath(each) for each in named if each]  # noqa: PTH100  (as site does)
    return [each for each in dict.fromkeys(wanted) if each in sys.path]
