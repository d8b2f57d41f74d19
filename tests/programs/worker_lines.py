"""Does its work in a child process, started as its argument says, or does none."""

import multiprocessing
import sys


def work():
    return 1 + 1  # @work


if __name__ == "__main__" and sys.argv[1] != "none":
    child = multiprocessing.get_context(sys.argv[1]).Process(target=work)
    child.start()
    child.join()
