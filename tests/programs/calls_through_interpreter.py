"""Calls native code through a function that the interpreter's own file has."""

import crossing
import interpreters_own

for turn in range(2):
    interpreters_own.apply(crossing.released, turn)  # @call
    after = turn  # @after
