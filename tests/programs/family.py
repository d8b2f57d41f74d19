"""A program that starts processes in each way; ``WAYS`` are those that it takes."""

import multiprocessing
import subprocess
import sys
import time


def work(number):
    doubled = number * 2  # @work
    return doubled


def long_work(number):
    print("works long", flush=True)
    while number:
        time.sleep(0.05)
        number += 1  # @long


def main(ways):
    for way in ways:
        if way in {"fork", "spawn"}:
            process = multiprocessing.get_context(way).Process(target=work, args=(21,), name=way)
            process.start()
            process.join()
        elif way == "pool":
            with multiprocessing.get_context("forkserver").Pool(1) as pool:
                pool.map(work, [21])
        elif way == "loader":
            loads()
        elif way == "python":
            subprocess.run([sys.executable, __file__, "itself"], check=True)
        elif way == "itself":
            work(21)
        elif way == "long":
            process = multiprocessing.get_context("fork").Process(target=long_work, args=(1,), daemon=True)
            process.start()
            process.join()
    print("all are done", flush=True)


def loads():
    from torch.utils.data import DataLoader

    for _ in DataLoader([21], num_workers=1, collate_fn=lambda items: work(items[0])):
        pass


if __name__ == "__main__":
    main(sys.argv[1:])
