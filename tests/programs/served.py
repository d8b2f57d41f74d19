"""What the tests of ``pyharness mcp`` debug: a loop that waits for a file, a long value, a function to step into."""

import sys
import time
from pathlib import Path


def shown(number):
    text = "x" * 9000
    return number + len(text)  # @shown


def main(wait):
    print("begins")
    if wait:
        while not Path(wait).exists():
            time.sleep(0.01)  # @waits
    for number in range(3):
        print("sum", shown(number))
    print("ends")


main(sys.argv[1] if len(sys.argv) > 1 else "")
