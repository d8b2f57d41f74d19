"""Calls a harmless function of a module that has others."""

import dangerous

print(dangerous.add(1, 2))  # @call
print("behind")  # @behind
