"""Three ranks that torch.multiprocessing starts: the last one waits for an event."""

import threading

import torch.distributed as dist
import torch.multiprocessing as mp


def run(rank, port):
    dist.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=3)
    if rank == 2:
        threading.Event().wait()
    dist.barrier()


if __name__ == "__main__":
    import os

    mp.spawn(run, (os.environ["MASTER_PORT"],), 3)
