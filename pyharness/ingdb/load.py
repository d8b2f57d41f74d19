"""The one file that a gdb sources for all of our parts: ``source .../pyharness/ingdb/load.py``."""

import sys
import warnings

if sys.warnoptions:  # PYTHONWARNINGS is for the program: where it makes errors of warnings, each import in gdb fails
    warnings.resetwarnings()
    warnings.simplefilter("ignore")

import gc
import importlib
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
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


@contextmanager
def _bytecode_kept() -> Iterator[None]:
    """Compiling our modules anew takes longer than all else at start: where they cannot lie beside it, keep them."""
    before = sys.dont_write_bytecode, sys.pycache_prefix
    if sys.dont_write_bytecode or not os.access(Path(_ROOT) / "pyharness", os.W_OK):
        state = importlib.import_module("pyharness.host.state")
        with suppress(state.StateError):
            sys.dont_write_bytecode, sys.pycache_prefix = False, str(state.state_dir("bytecode"))
    try:
        yield
    finally:
        sys.dont_write_bytecode, sys.pycache_prefix = before


_registered = vars(importlib.import_module("pyharness.ingdb")).setdefault("registered", set())
with _bytecode_kept():
    for _name in MODULES:
        if _name not in _registered:  # a file may be sourced twice
            importlib.import_module(f"pyharness.ingdb.{_name}").register()
            _registered.add(_name)
gc.freeze()  # what is imported stays: no collection looks at it again, nor that at the end of gdb
