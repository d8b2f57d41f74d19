"""What ``gdb -x`` runs for ``pyharness doctor``: says which gdb and Python this is, and whether our commands load."""

import json
import sys
from pathlib import Path

import gdb


def _loads() -> str:
    """What goes wrong when our commands are loaded; empty where they are."""
    # A file that is sourced sees no __file__ of its own in every gdb: the code object knows.
    load = Path(sys._getframe().f_code.co_filename).resolve().with_name("load.py")  # noqa: SLF001
    try:
        gdb.execute(f"source {load}", to_string=True)
        gdb.execute("help ph-bt", to_string=True)
    except (gdb.error, RuntimeError) as error:
        return str(error)
    return ""


print(
    "pyharness-doctor: "
    + json.dumps(
        {
            "version": gdb.VERSION,
            "python": ".".join(map(str, sys.version_info[:3])),
            "target": gdb.parameter("architecture") and str(getattr(gdb, "HOST_CONFIG", "")),
            "error": _loads(),
        }
    )
)
