"""A rank of a job in which rank 1 sleeps; it says when it is about to wait."""

from __future__ import annotations

import time

import torch
import torch.distributed as dist

dist.init_process_group("gloo")
values = torch.ones(4, 8)
for _ in range(30):
    dist.all_reduce(values)
print("ready", flush=True)
if dist.get_rank() == 1:
    time.sleep(10_000)
dist.all_reduce(values)
