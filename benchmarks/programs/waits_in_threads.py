"""A program without torch that waits in five threads until it is ended: it prints ``ready`` once it does."""

from __future__ import annotations

import threading


def recurse(depth: int, end: threading.Event) -> None:
    """Wait below some frames, one of which C code calls."""
    if depth:
        recurse(depth - 1, end)
    else:
        print("ready", flush=True)
        sorted([2, 1], key=lambda _: end.wait())


if __name__ == "__main__":
    never = threading.Event()
    for _ in range(4):
        threading.Thread(target=never.wait, daemon=True).start()
    recurse(10, never)
