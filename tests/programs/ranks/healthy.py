"""Jobs without a fault, by name, until they are ended: ``healthy.py NAME`` is one rank. It says when it runs."""

import os
import sys
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader


def steady(_rank, values):
    dist.all_reduce(values)


def slow_steps(_rank, values):
    time.sleep(0.8)
    dist.all_reduce(values)


def one_is_slower(rank, values):
    end = time.monotonic() + (0.9 if rank == 1 else 0.1)
    while time.monotonic() < end:
        values = values @ torch.eye(values.shape[1])
    dist.all_reduce(values)


def loader(_rank, values):
    for batch in DataLoader([torch.ones(4)] * 8, num_workers=1):
        dist.all_reduce(batch)
    dist.all_reduce(values)


def subgroups(rank, values):
    for group in GROUPS:
        if rank in dist.get_process_group_ranks(group):
            dist.all_reduce(values, group=group)
            time.sleep(0.05 * rank)
    dist.barrier()


def messages(rank, values):
    if rank == 0:
        time.sleep(0.3)
        dist.send(values, 1)
    elif rank == 1:
        dist.recv(values, 0)
    dist.all_reduce(values)


def data_parallel(_rank, values):
    MODEL(values).sum().backward()


def async_calls(rank, values):
    works = [dist.all_reduce(values, async_op=True) for _ in range(5)]
    time.sleep(0.02 * rank)
    for work in works:
        work.wait()


def checkpoint(rank, values):
    for _ in range(20):
        dist.all_reduce(values)
    if rank == 0:
        time.sleep(1.2)


def evaluation(rank, values):
    dist.all_reduce(values)
    if rank == 0:
        time.sleep(0.5)
    dist.broadcast(values, 0)


def barriers(rank, _values):
    time.sleep(0.1 * rank)
    dist.barrier()


def imports(rank, values):
    dist.all_reduce(values)


JOBS = {
    job.__name__: job
    for job in (
        steady, slow_steps, one_is_slower, loader, subgroups, messages, data_parallel, async_calls, checkpoint,
        evaluation, barriers, imports,
    )
}  # fmt: skip


if __name__ == "__main__":
    if sys.argv[1] == "imports":
        print("runs", flush=True)
        time.sleep(1.5 * int(os.environ["RANK"]))
    dist.init_process_group("gloo")
    GROUPS = [dist.new_group([0, 1]), dist.new_group([1, 2]), dist.new_group([0, 2])]
    MODEL = DistributedDataParallel(nn.Sequential(nn.Linear(8, 8), nn.GELU(), nn.Linear(8, 8)))
    VALUES = torch.ones(4, 8)
    print("runs", flush=True)
    while True:
        JOBS[sys.argv[1]](dist.get_rank(), VALUES.clone())
