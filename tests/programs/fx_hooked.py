"""Runs a program as the harness would, telling of each file of generated code: fx_hooked.py [--late] PROGRAM."""

import os
import runpy
import sys

from pyharness.debuggee.watched import generated
from pyharness.model.source_map import SUFFIX


def notify(file):
    both = file, file + SUFFIX
    print("generated", *both, all(map(os.path.exists, both)), flush=True)


if sys.argv[1] == "--late":
    import torch.fx  # noqa: F401

generated.install(notify)
runpy.run_path(sys.argv[-1], run_name="__main__")
