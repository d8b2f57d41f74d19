"""Counts, while a dozen threads wait."""

import threading

ends = threading.Event()
begun = threading.Barrier(13)


def waits():
    begun.wait()
    ends.wait()


for _ in range(12):
    threading.Thread(target=waits, daemon=True).start()
begun.wait()
turn = 0
while turn < 1000:
    turn += 1  # @turn
print("turns", turn)
