"""Jobs that hang or fail, by the fault's name: ``faults.py NAME`` is one rank. Lines that a fault stands at are marked."""

import ctypes
import os
import signal
import sys
import threading
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset

LONG = 10_000


def train(rank, fault, steps=3):
    """A few steps in which all take part; then the fault, and one more step."""
    values = torch.ones(4, 8)
    for _ in range(steps):
        dist.all_reduce(values)
    fault(rank)
    step(values)


def step(values):
    dist.all_reduce(values)  # @step


def of(rank, culprit=1):
    return rank == culprit


def sleeps(rank):
    if of(rank):
        time.sleep(LONG)  # @sleeps


def computes(rank):
    forever = of(rank)
    while forever:
        pass  # @computes


def native_lock(rank):
    if of(rank):
        libc, mutex = ctypes.CDLL(None), ctypes.create_string_buffer(64)
        libc.pthread_mutex_lock(mutex)
        libc.pthread_mutex_lock(mutex)  # @native_lock


def gil_kept(rank):
    if of(rank):
        libc = ctypes.PyDLL(None)
        threading.Thread(target=libc.sleep, args=(LONG,), daemon=True).start()  # @gil_kept
        time.sleep(LONG)


def python_lock(rank):
    if of(rank):
        lock = threading.Lock()
        lock.acquire()
        lock.acquire()  # @python_lock


def asks(rank):
    if of(rank):
        input()  # @asks


def stopped(rank):
    if of(rank):
        os.kill(os.getpid(), signal.SIGSTOP)  # @stopped


def raises(rank):
    """The exception is told, and then the interpreter waits for a thread."""
    if of(rank):
        threading.Thread(target=time.sleep, args=(LONG,)).start()
        raise ValueError("on one rank")


def swapped(rank):
    values = torch.ones(3)
    if of(rank):
        dist.broadcast(values, 0)  # @swapped
    dist.all_reduce(values)  # @in_order


def other_shape(rank):
    size = 2 if of(rank) else 4
    dist.reduce_scatter(torch.ones(size), [torch.ones(size)] * dist.get_world_size())  # @other_shape


def other_root(rank):
    dist.broadcast(torch.ones(8), 1 if of(rank) else 0)  # @other_root


def barrier_of_one(rank):
    if of(rank, 0):
        dist.barrier()  # @barrier_of_one


def subgroup(rank):
    group = dist.new_group([0, 1])
    if rank == 0:
        dist.broadcast(torch.ones(2), 0, group=group)  # @subgroup


def crossed(rank):
    first, second = dist.new_group([0, 1]), dist.new_group([0, 1])
    for group in (first, second) if rank == 0 else (second, first):
        if rank < 2:
            dist.all_reduce(torch.ones(2), group=group)  # @crossed


def recv_without_send(rank):
    if rank == 0:
        dist.recv(torch.ones(2), 1)  # @recv_without_send


def recv_of_one_that_sleeps(rank):
    if rank == 1:
        time.sleep(LONG)
    else:
        dist.recv(torch.ones(2), 1)  # @recv_of_one_that_sleeps


def monitored_barrier(rank):
    if rank == 1:
        time.sleep(LONG)
    else:
        dist.monitored_barrier(timeout=timedelta(hours=1))  # @monitored_barrier


def new_group(rank):
    if rank == 1:
        time.sleep(LONG)
    else:
        dist.new_group()  # @new_group


def message_apart(rank):
    if rank == 1:
        time.sleep(LONG)
    else:
        dist.irecv(torch.ones(2), 1).wait()  # @message_apart


def loader_worker(rank):
    for _ in DataLoader(Slow(rank), num_workers=1):  # @loader_worker
        pass


def forked_worker(rank):
    for _ in DataLoader(Slow(rank), num_workers=1, multiprocessing_context="forkserver"):  # @forked_worker
        pass


class Slow(Dataset):
    def __init__(self, rank):
        self.rank = rank

    def __len__(self):
        return 2

    def __getitem__(self, index):
        if of(self.rank):
            time.sleep(LONG)  # @slow_item
        return index


def uneven_batches(rank):
    model = DistributedDataParallel(nn.Linear(4, 4))
    for _ in range(3 if of(rank) else 4):
        model(torch.ones(2, 4)).sum().backward()  # @uneven_batches
    dist.barrier()  # @after_batches


class Branches(nn.Module):
    def __init__(self):
        super().__init__()
        self.left, self.right = nn.Linear(4, 4), nn.Linear(4, 4)

    def forward(self, values, both):
        return self.left(values) + (self.right(values) if both else 0)


def unused_parameter(rank):
    model = DistributedDataParallel(Branches(), bucket_cap_mb=1e-5)
    model(torch.ones(2, 4), not of(rank)).sum().backward()  # @unused_parameter
    dist.barrier()  # @after_backward


def compiles(rank):
    def slow(graph, _inputs):
        time.sleep(LONG)
        return graph

    if of(rank):
        torch.compile(torch.sin, backend=slow)(torch.ones(2))  # @compiles


def children(rank):
    if of(rank):
        os.waitpid(os.fork() or time.sleep(LONG), 0)  # @children


FAULTS = {
    fault.__name__: fault
    for fault in (
        sleeps, computes, native_lock, gil_kept, python_lock, asks, stopped, raises, swapped,
        other_shape, other_root, barrier_of_one, subgroup, crossed, recv_without_send, loader_worker, uneven_batches,
        forked_worker, unused_parameter, compiles, children, recv_of_one_that_sleeps, monitored_barrier, new_group, message_apart,
    )
}  # fmt: skip


def main():
    rank = int(os.environ["RANK"])
    name = sys.argv[1]
    if name == "never_begins" and of(rank):
        time.sleep(LONG)  # @never_begins
    if name == "dies" and of(rank):
        os._exit(3)
    dist.init_process_group("gloo", timeout=timedelta(hours=1))  # @begins
    train(rank, FAULTS.get(name, lambda _rank: None))
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
