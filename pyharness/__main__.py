"""``python -m pyharness`` is ``pyharness``."""

from __future__ import annotations

from pyharness.cli import main

if __name__ == "__main__":
    main()
