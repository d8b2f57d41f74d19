"""A client in a process of its own, which brings its session to a state, says so, and waits to be killed."""

import functools
import sys
from pathlib import Path

import states
from adapters import Adapters

_, state, mark, folder, way = sys.argv
adapters = Adapters(Path(folder), mark)
bring = getattr(states, state)
start = adapters.stdio if way == "stdio" else functools.partial(adapters.tcp, "--once")
bring(start(**states.environment_of(bring, Path(folder))), Path(folder))
print("there", flush=True)
sys.stdin.read()
