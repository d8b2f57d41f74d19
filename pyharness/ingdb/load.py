"""The one file that a gdb sources for all of our parts: ``source .../pyharness/ingdb/load.py``."""

import sys
import warnings

if sys.warnoptions:  # PYTHONWARNINGS is for the program: where it makes errors of warnings, each import in gdb fails
    warnings.resetwarnings()
    warnings.simplefilter("ignore")

import gc
import importlib
from pathlib import Path

MODULES = (
    "charset",
    "process.libraries",
    "process.extended_state",
    "process.own_environment",
    "stack.unwinder",
    "stack.frame_names",
    "printers.known",
    "tensors.function",
    "commands",
    "commands.attach_at",
    "commands.merged_filter",
)
"""The modules of this folder that have a ``register()``, in the order in which it is called."""

# gdb's interpreter is not the program's: only the package's own folder is added, last, so that nothing is shadowed.
# A file sourced by another Python file sees that file's __file__: the code object knows better.
_ROOT = str(Path(sys._getframe().f_code.co_filename).resolve().parents[2])  # noqa: SLF001
if _ROOT not in sys.path:
    sys.path.append(_ROOT)


_registered = vars(importlib.import_module("pyharness.ingdb")).setdefault("registered", set())
with importlib.import_module("pyharness.host.bytecode").kept(f"{_ROOT}/pyharness/ingdb/load.py", anyway=True):
    for _name in MODULES:
        if _name not in _registered:  # a file may be sourced twice
            importlib.import_module(f"pyharness.ingdb.{_name}").register()
            _registered.add(_name)
gc.freeze()  # what is imported stays: no collection looks at it again, nor that at the end of gdb
