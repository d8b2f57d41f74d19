"""A job that trains: the loss of each step is written by rank 0. ``SECONDS`` is the timeout of its process group.

With ``spawn`` it starts its ranks itself, and no environment says which each is.
"""

import os
import sys
from datetime import timedelta

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

STEPS = 3


def say(text):
    os.write(1, f"{text}\n".encode())  # in one piece: other ranks write, too


def loss_of(weight, step, rank):
    torch.manual_seed(step * 100 + rank)
    batch = torch.randn(4, 8)
    return (batch @ weight).square().mean()  # @loss


def train(rank):
    weight = torch.ones(8, requires_grad=True)
    for step in range(STEPS):
        loss = loss_of(weight, step, rank)
        loss.backward()
        if "fails" in sys.argv and rank == 1:
            raise ValueError("on one rank")  # @fails
        dist.all_reduce(weight.grad)  # @reduce
        with torch.no_grad():
            weight -= 0.01 * weight.grad  # @reduced
        weight.grad = None
        if rank == 0:
            say(f"step {step} {loss.item():.6f} {weight.sum().item():.6f}")
    timeout = dist.group.WORLD._get_backend(torch.device("cpu")).options._timeout
    say(f"rank {rank} waits {timeout.total_seconds():g} s")  # @timeout
    dist.barrier()
    dist.destroy_process_group()


def work(rank, world, seconds):
    dist.init_process_group("gloo", rank=rank, world_size=world, timeout=timedelta(seconds=seconds))
    train(rank)


if __name__ == "__main__":
    torch.set_num_threads(1)
    limit = float(sys.argv[1])
    if "spawn" in sys.argv:
        os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=sys.argv[3])
        mp.spawn(work, (3, limit), nprocs=3)
    else:
        dist.init_process_group("gloo", timeout=timedelta(seconds=limit))
        train(dist.get_rank())
