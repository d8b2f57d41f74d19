"""Waits in C++ for a thread of C++, and keeps the GIL."""

import joined

total = joined.run(4)
print(total)  # @printed
