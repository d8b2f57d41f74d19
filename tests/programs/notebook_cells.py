"""Runs text as a notebook's kernel runs a cell: its lines are in no file, and Python has them for its tracebacks."""

import linecache
import sys

CELLS = {
    "stop": """import crossing

def cell(number):
    seen = crossing.held(number)
    return seen

cell(7)
""",
    "wait": """import time

def cell(number):
    print("ready", flush=True)
    time.sleep(number)

cell(60)
""",
}


def run(text, name):  # timeit keeps lines without their ends
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=name != "<timeit-src>"), name)
    exec(compile(text, name, "exec"), {})


linecache.cache["/nowhere/later.py"] = (lambda: "",)  # what is read when a traceback asks for it
run(CELLS[sys.argv[1]], sys.argv[2])
