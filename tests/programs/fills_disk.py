"""Fills the disk of a folder, and goes on: fills_disk.py FOLDER."""

import os
import sys

import fx_plain


def fill(folder):
    with open(os.path.join(folder, "filling"), "wb", buffering=0) as file:
        while os.statvfs(folder).f_bavail:
            file.write(bytes(4096))


if __name__ == "__main__":
    fx_plain.main()
    fill(sys.argv[1])
    fx_plain.Net.__name__ = "Later"  # another file
    fx_plain.main()
