"""Reads DAP messages, one JSON object a line, and names those that the protocol's schema does not allow."""

import json
import sys

from kit.dap_protocol import faults


def main():
    wrong = 0
    for line in sys.stdin:
        message = json.loads(line)
        for fault in faults(message):
            wrong += 1
            print(f"{fault}\n  {line.strip()[:400]}")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
