"""A rank that waits for another one in gloo, until it is ended: it prints ``ready`` just before."""

from __future__ import annotations

import multiprocessing
import socket
from datetime import timedelta

import torch
import torch.distributed as dist

NEVER = timedelta(days=1)


def join(rank: int, port: int) -> None:
    """Become one of two ranks."""
    dist.init_process_group("gloo", f"tcp://127.0.0.1:{port}", NEVER, 2, rank)


def never_reduces(port: int) -> None:
    """The other rank; it ends with the first."""
    join(1, port)
    if first := multiprocessing.parent_process():
        first.join()


if __name__ == "__main__":
    with socket.create_server(("127.0.0.1", 0)) as server:
        free = server.getsockname()[1]
    multiprocessing.get_context("spawn").Process(target=never_reduces, args=(free,), daemon=True).start()
    join(0, free)
    print("ready", flush=True)
    dist.all_reduce(torch.ones(10))
