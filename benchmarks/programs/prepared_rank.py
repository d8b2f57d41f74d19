"""One rank with what the peers need beforehand: ``prepared_rank.py PORT DUMPS SCRIPT WORD...`` runs the script.

torch's debug server listens at PORT; a thread writes the flight recorder to DUMPS twice a second, for the analyzer.
"""

import os
import pickle
import runpy
import sys
import threading
import time
from pathlib import Path

import torch._dynamo  # noqa: F401  # behind the debug server, DistributedDataParallel imports it in a circle
from torch._C._distributed_c10d import _dump_fr_trace  # type: ignore[attr-defined]  # the stub lacks it
from torch.distributed.debug import start_debug_server
from torch.distributed.distributed_c10d import _world, get_process_group_ranks


def with_groups(dump: bytes) -> bytes:
    """The dump with the groups of this rank, which the analyzer needs, and which Gloo leaves out (torch 2.13)."""
    found = pickle.loads(dump)  # noqa: S301
    for group, name in list(_world.pg_names.items()):
        told = {"name": name, "desc": group.group_desc, "ranks": str(get_process_group_ranks(group))}
        found["pg_config"][name] = told
    return pickle.dumps(found)


def dump_for_ever(file: Path) -> None:
    """Write the recorder again and again; whole files only are seen."""
    while True:
        fresh = file.parent.parent / f"fresh-{file.name}"
        fresh.write_bytes(with_groups(_dump_fr_trace()))
        fresh.replace(file)
        time.sleep(0.5)


def main() -> None:
    """Prepare, then be the script."""
    port, dumps, *sys.argv = sys.argv[1:]
    start_debug_server(int(port), fetch_timeout=15)
    file = Path(dumps) / f"rank_{os.environ['RANK']}"
    threading.Thread(target=dump_for_ever, args=(file,), daemon=True).start()
    sys.path.insert(0, str(Path(sys.argv[0]).parent))
    runpy.run_path(sys.argv[0], run_name="__main__")


if __name__ == "__main__":
    main()
