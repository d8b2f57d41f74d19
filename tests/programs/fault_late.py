"""Imports its extension when it is told to."""

import sys

print("before", flush=True)
sys.stdin.readline()
import crossing

print(crossing.held(1), flush=True)  # @native
sys.stdin.readline()
sys.exit(7)
