"""Crosses into native code again and again and ends with exit code 7; where an argument names, it waits for a line."""

import sys

import crossing


def stand(number):
    value = number + 1  # @python
    value = crossing.held(value)  # @native
    value = crossing.released(value)  # @released
    return value  # @return


def wait(place):
    print(place, flush=True)
    if place in sys.argv:
        sys.stdin.readline()


wait("first")
total = stand(1)
if "inline" in sys.argv:
    print("inline", flush=True), sys.stdin.readline()  # @inline
wait("between")
for number in range(3):  # @loop
    total += stand(number)
print("total", total, flush=True)
sys.exit(7)
