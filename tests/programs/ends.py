"""Ends in a way of its argument, in code that a report has to name."""

import ctypes
import faulthandler
import os
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time

import torch


class Faulty(torch.autograd.Function):
    """A function whose backward reads what is not there."""

    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, gradient):
        scale = gradient * 3
        ctypes.string_at(16)  # @backward
        return scale


class Rows(torch.utils.data.Dataset):
    """Items that cannot be read in a worker."""

    def __repr__(self):
        os._exit(7)  # a report runs no code of ours

    def __len__(self):
        return 4

    def __getitem__(self, index):
        if torch.utils.data.get_worker_info() is not None:
            ctypes.string_at(0)  # @worker
        return torch.ones(2)


def null():
    values = torch.arange(3.0)
    ctypes.string_at(0)  # @null
    return values


def aborts():
    os.abort()  # @aborts


def sent():
    os.kill(os.getpid(), signal.SIGFPE)  # @sent


def disabled():
    if not faulthandler.is_enabled():
        faulthandler.enable()
    faulthandler.disable()
    null()


def in_thread():
    thread = threading.Thread(target=null)
    thread.start()
    thread.join()


def without_files():
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, 3))
    null()


def in_a_removed_folder():
    os.chdir(folder := tempfile.mkdtemp())
    os.rmdir(folder)
    null()


def in_another_namespace():
    """The processes of /proc are not those of the namespace that the child is the first of."""
    if ctypes.CDLL(None).unshare(0x20000000):  # CLONE_NEWPID
        sys.exit("not permitted")
    if os.fork() == 0:
        null()
    sys.exit(os.waitstatus_to_exitcode(os.wait()[1]))


def backward():
    Faulty.apply(torch.ones(3, requires_grad=True)).sum().backward()


def overflow():
    kind = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)
    again = kind(lambda depth: again(depth + 1))  # @overflow
    sys.setrecursionlimit(10**8)
    hard = resource.getrlimit(resource.RLIMIT_STACK)[1]
    resource.setrlimit(resource.RLIMIT_STACK, (1 << 20, hard))  # before 3.13's own limit for calls in C is reached
    again(0)


def worker():
    for _ in torch.utils.data.DataLoader(Rows(), num_workers=1):
        pass


def raises():
    weight, names = torch.ones(2, 3), ["a", torch.zeros(1)]
    kinds = {Rows(): {1}}
    raise ValueError(f"{len(names)} names of {weight.dim()}, {len(kinds)}")  # @raises


def waits():
    deadline = time.monotonic() + float(sys.argv[2])
    threading.Event().wait(deadline - time.monotonic())  # @waits


def spins():
    done = []
    threading.Timer(float(sys.argv[2]), done.append, [True]).start()
    while not done: pass  # @spins  # noqa: E701  # fmt: skip


class Slow(torch.utils.data.Dataset):
    """An item that a worker takes long to read."""

    def __len__(self):
        return 1

    def __getitem__(self, index):
        time.sleep(float(sys.argv[2]))
        return index


def waits_for_its_loader():
    torch.utils.data._utils.MP_STATUS_CHECK_INTERVAL = 0.6  # after which it asks anew: 5 s
    for _ in torch.utils.data.DataLoader(Slow(), num_workers=1):  # @waits_for_its_loader
        pass


def works():
    for _turn in range(30):
        time.sleep(0.1)


def works_in_short_waits():
    ends = time.monotonic() + 3
    while time.monotonic() < ends:
        subprocess.run(["sleep", "0.05"], check=True)


def waits_for_all():
    subprocess.run(["true"], check=True)
    while True:
        try:
            os.wait()
        except ChildProcessError:
            break
    print("no child is left")


def closes_all():
    os.closerange(3, 4096)
    time.sleep(1)


def noted():
    error = ValueError("y" * 10_000)
    if sys.version_info >= (3, 11):
        error.add_note("see the docs")
    raise error


class Asked(Exception):
    """Says that its text was asked for."""

    def __str__(self):
        print("asked", flush=True)
        return "text"


def hides():
    try:
        raise Asked
    except Asked:
        raise ValueError("on its own") from None


if sys.argv[1] == "module":
    for turn in range(30):
        time.sleep(0.1)
else:
    globals()[sys.argv[1]]()
print("the end")
