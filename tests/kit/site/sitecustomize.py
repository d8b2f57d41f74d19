"""Python programs of tests collect garbage seldom, and none when they end: a quarter of what importing torch takes.

Importing torch keeps 250,000 objects: a lower threshold collects in the midst of it, for nothing.

The tests put this folder on ``PYTHONPATH`` (tests/conftest.py), but for ``PYHARNESS_TURN=all``: there programs run as
anybody's.
"""

import atexit
import gc

gc.set_threshold(1_000_000)
atexit.register(gc.freeze)  # registered first, it runs last
