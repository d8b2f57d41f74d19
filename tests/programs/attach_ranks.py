"""What each rank of a distributed job runs; by itself it loads data with workers."""

import os
import sys


def rank_of(environment):
    rank = int(environment["RANK"])  # @rank
    return rank


class Squares:
    def __len__(self):
        return 4

    def __getitem__(self, index):
        square = index * index  # @item
        return square


if __name__ == "__main__":
    if "RANK" in os.environ:
        print("rank", rank_of(os.environ), flush=True)
    else:
        from torch.utils.data import DataLoader

        print([batch.tolist() for batch in DataLoader(Squares(), batch_size=2, num_workers=2)], flush=True)
    sys.exit(0)
