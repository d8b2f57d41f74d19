"""A worker thread changes an element of a tensor that the main thread made; then an extension throws."""

import sys
import threading

import torch


def change(x):
    for step in range(3):
        x[1, 0] += step  # @change


def main():
    x = torch.zeros(2, 2)
    print("made", flush=True)  # @made
    worker = threading.Thread(target=change, args=(x,))
    worker.start()
    worker.join()
    print(x.sum().item(), flush=True)  # @joined


main()
sys.exit(7)
