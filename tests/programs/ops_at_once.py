"""Eight threads call one op at once, fifty times each, when a line of its input tells them to; ends when its input does."""

import sys
import threading

import torch

torch.set_num_threads(1)
THREADS, CALLS = 8, 50
ones = torch.ones(2)
together = threading.Barrier(THREADS)


def call():
    for _ in range(CALLS):
        together.wait()
        torch.sin(ones)


print("begin", flush=True)
sys.stdin.readline()
threads = [threading.Thread(target=call) for _ in range(THREADS)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
sys.stdin.read()  # until the debugger has left
print("left", sys.gettrace(), flush=True)
sys.exit(7)
