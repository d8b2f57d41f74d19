# Runs one faulty op and says what is left of the process afterwards: faulty_op.py NAME [PAST].
import faulthandler
import sys

import torch

from pyharness.ops import faulty

name, *options = sys.argv[1:]
if name == "deadlock":
    # The watchdog is a C thread that needs no GIL: it ends the process that nothing else could.
    faulthandler.dump_traceback_later(1, exit=True)
result = getattr(faulty, name)(torch.ones(3), *map(int, options))  # @fault
print("survived", result)
