"""Run by gdb: prints the help of our commands and functions as one line of JSON."""

from __future__ import annotations

import json

import gdb

names = gdb.execute("complete ph-", to_string=True).split()
functions = gdb.execute("complete help function ph_", to_string=True).split()[2::3]
asked = {name: gdb.execute(f"help {name}", to_string=True) for name in names}
asked |= {f"${name}": gdb.execute(f"help function {name}", to_string=True) for name in functions}
print("ASKED", json.dumps(asked))
