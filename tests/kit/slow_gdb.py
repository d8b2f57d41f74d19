"""A gdb that says when it attaches and then waits: what happens meanwhile can be arranged."""

import os
import shutil
from pathlib import Path


class SlowGdb:
    """Real gdb, with a hook ``before`` or ``after`` its attach."""

    def __init__(self, folder, moment):
        self._reached, self._released = folder / "gdb-reached", folder / "gdb-released"
        for path in (self._reached, self._released):
            os.mkfifo(path)
        hooks = folder / "hooks.gdb"
        name = {"before": "hook-attach", "after": "hookpost-attach"}[moment]
        hooks.write_text(f"define {name}\nshell echo there > {self._reached}; cat {self._released}\nend\n")
        program = folder / "slow-gdb"
        program.write_text(f"#!/bin/sh\nexec {shutil.which('gdb')} -iex 'source {hooks}' \"$@\"\n")
        program.chmod(0o755)
        self.environment = {"PYHARNESS_GDB": str(program)}

    def wait_until_it_attaches(self):
        Path(self._reached).read_text()

    def let_go(self):
        Path(self._released).write_text("")
