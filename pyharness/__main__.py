"""``pyharness``, and ``python -m pyharness``: Ctrl-C ends it in silence from its first lines on."""

from __future__ import annotations

import sys


def main() -> None:
    """The command line; Ctrl-C while it is still being imported ends it as later on, without a traceback."""
    try:
        from pyharness.host import own_path

        own_path.put_users_last()
        from pyharness.cli import main as command_line

        command_line()
    except KeyboardInterrupt:
        sys.exit(130)  # ExitStatus.INTERRUPTED, which may not be imported yet


if __name__ == "__main__":
    main()
