"""Calls a function that nanobind binds, of the module in the folder that is the argument."""

import sys

sys.path.insert(0, sys.argv[1])
import nanobind_kind

found = nanobind_kind.scaled(5, 2)  # @call
found += 1  # @after
print(found)
