"""Calls functions of C++ that exceptions leave."""

import throwing

print(throwing.catching(-1))
print(throwing.inside(-1))
try:
    throwing.passing(-1)  # @call
except IndexError as error:
    print("caught", error)  # @caught
print(throwing.catching(-1))
throwing.twice(1)
throwing.own(1)
print("end")  # @end
