"""Starts a child in the way that its argument says; both of them go into native code."""

import multiprocessing
import sys

import crossing


def work(number):
    doubled = crossing.held(number)  # @work
    print("child", doubled, flush=True)  # @worked


if __name__ == "__main__":
    child = multiprocessing.get_context(sys.argv[1]).Process(target=work, args=(20,))
    child.start()
    crossing.held(1)  # @parent
    child.join()
    print("parent of", child.exitcode, flush=True)
    sys.exit(7)
