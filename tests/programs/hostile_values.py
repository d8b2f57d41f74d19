"""Values that block, exit or print when they are shown, on the main thread and on another, in both languages."""

import os
import pdb  # for an expression
import sys
import threading
import time

import crossing


class Blocks:
    def __repr__(self):
        while True:
            time.sleep(0.01)


class Exits:
    def __repr__(self):
        sys.exit(3)


class Leaves:
    def __repr__(self):
        os._exit(3)


class Speaks:
    def __repr__(self):
        print("spoken by a repr")
        return "Speaks()"


class Lies:
    @property
    def __class__(self):
        raise LookupError("outside of a request")


class Opaque:
    def __getattribute__(self, name):
        raise LookupError(f"no {name}")


class Raises:
    def __repr__(self):
        raise ValueError("no text")


class Waits:
    @property
    def forever(self):
        threading.Event().wait()


def look(number):
    blocks, exits, leaves, speaks, lies, waits = Blocks(), Exits(), Leaves(), Speaks(), Lies(), Waits()
    opaque, raises, big = Opaque(), Raises(), 16**5000
    several = [opaque, raises, big, exits, number]
    taken = threading.Lock()
    taken.acquire()
    number += crossing.held(number)  # @look
    return number, blocks, exits, leaves, speaks, lies, waits, several  # @looked


def main():
    read, write = os.pipe()  # what only a byte from elsewhere ends
    look(1)
    other = threading.Thread(target=look, args=(2,))
    other.start()
    other.join()
    print("read", sys.stdin.readline().strip(), read and write, flush=True)  # @read


main()
sys.exit(7)
