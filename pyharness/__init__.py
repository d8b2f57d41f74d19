"""pyharness: one debugger for PyTorch programs that are half Python and half C++.

Importing this package never imports torch: the same package is read by gdb's own interpreter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

__version__ = "0.2.0"

if TYPE_CHECKING:
    from pyharness.debuggee.in_place.pdb_class import Pdb as Pdb
    from pyharness.debuggee.in_place.stops import breakpoint as breakpoint  # noqa: A004  (for PYTHONBREAKPOINT)
    from pyharness.debuggee.in_place.stops import post_mortem as post_mortem
    from pyharness.debuggee.in_place.stops import set_trace as set_trace
    from pyharness.debugger.api.attach import attach as attach
    from pyharness.debugger.api.debug import debug as debug
    from pyharness.debugger.api.job import Job as Job
    from pyharness.debugger.api.job import debug_job as debug_job
    from pyharness.debugger.api.program import Program as Program
    from pyharness.model.errors import DebuggerLostError as DebuggerLostError
    from pyharness.model.errors import HarnessError as HarnessError
    from pyharness.model.errors import UsageError as UsageError
    from pyharness.model.results.finding import NonFiniteError as NonFiniteError
    from pyharness.native.find_nan import find_nan as find_nan
    from pyharness.native.find_overwritten import find_overwritten as find_overwritten
    from pyharness.native.recording import record as record
else:
    from pyharness.host.first_use import on_first_use

    __getattr__, __dir__, __all__ = on_first_use(
        __name__,
        {
            "debuggee.in_place.pdb_class": "Pdb",
            "debuggee.in_place.stops": "breakpoint post_mortem set_trace",
            "debugger.api.attach": "attach",
            "debugger.api.debug": "debug",
            "debugger.api.job": "Job debug_job",
            "debugger.api.program": "Program",
            "model.errors": "DebuggerLostError HarnessError UsageError",
            "model.results.finding": "NonFiniteError",
            "native.find_nan": "find_nan",
            "native.find_overwritten": "find_overwritten",
            "native.recording": "record",
        },
        "__version__",
    )
