"""Loads the test extension and calls it once."""

import crossing

crossing.released(1)
