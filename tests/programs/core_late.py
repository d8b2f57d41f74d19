"""Loads its extension and calls it on one line."""

import sys

value = __import__("crossing").held(1)  # @import
print(value, file=sys.stderr)  # @last
