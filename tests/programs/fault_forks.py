"""Has the same work done in child processes, made as the argument says, and then in this one."""

import multiprocessing
import os
import subprocess
import sys

import crossing


def work(number):
    value = number + 1  # @work
    return crossing.held(value)  # @native


def fork():
    child = os.fork()
    if child == 0:
        os._exit(work(1))
    return [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])]


def pool(way):
    with multiprocessing.get_context(way).Pool(2) as workers:
        return workers.map(work, range(4))


def loader():
    from torch.utils.data import DataLoader, Dataset

    class Numbers(Dataset):
        def __len__(self):
            return 4

        def __getitem__(self, index):
            return work(index)

    return [int(value) for batch in DataLoader(Numbers(), batch_size=2, num_workers=2) for value in batch]


def process():
    return [int(subprocess.run([sys.executable, "-c", "print(3)"], capture_output=True, check=True).stdout)]


if __name__ == "__main__":
    ways = {"fork": fork, "loader": loader, "process": process}
    way = ways.get(sys.argv[1]) or (lambda: pool(sys.argv[1].removeprefix("pool-")))
    children = way()  # @children
    print("children", children, flush=True)
    print("parent", work(10), flush=True)  # @parent
