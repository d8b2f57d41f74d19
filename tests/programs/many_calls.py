"""Calls an extension with 20,000 functions and more."""

import many_functions

total = many_functions.call(7)  # @call
total += 1  # @after
total += many_functions.through(3)  # @through
for _ in range(3):
    total += many_functions.call(1)  # @again
total += many_functions.recursive(3)  # @recursive
print(total)
