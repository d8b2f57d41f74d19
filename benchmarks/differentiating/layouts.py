"""Two calls compared over many layouts of the heap.

Where the tensors of a call come to lie decides which of them share a cache: the same call differs by several percents
from one process to the next, and stays so however often it is run. So what is compared is the median over many.
Mytkowicz et al., "Producing Wrong Data Without Doing Anything Obviously Wrong!", 2009, and Curtsinger and Berger,
"Stabilizer", 2013, show how much such luck can hide.
"""

from __future__ import annotations

import random
import statistics
from functools import partial
from typing import TYPE_CHECKING

import torch

from benchmarks.differentiating.processor import on_the_processor
from benchmarks.table import ratio
from benchmarks.watching.forked import copy_of_this_process

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from torch import Tensor

LAYOUTS = 20
RUNS = 5
"""In each of them."""
BLOCKS = 64
LARGEST = 1 << 20
"""Bytes."""


def ratio_over_layouts(subjects: Mapping[str, Callable[[], object]]) -> float:
    """The ratio of the processor's time of two calls, first to second: the median over layouts."""
    first, second = subjects
    found = []
    for seed in range(LAYOUTS):
        kept: list[Tensor] = []
        measure = partial(_ratio, subjects, first, second)
        with copy_of_this_process(partial(_scatter, tuple(subjects.values()), kept, seed), measure) as ask:
            found.append(ask())
    return statistics.median(found)


def _scatter(calls: Sequence[Callable[[], object]], kept: list[Tensor], seed: int) -> None:
    """Leave holes of other sizes in the heap for every seed."""
    for call in calls:  # with all that it sets up once, and before the heap is laid out
        call()
    sizes = random.Random(seed)  # noqa: S311
    blocks = [torch.empty(sizes.randint(1, LARGEST), dtype=torch.uint8) for _ in range(BLOCKS)]
    kept.extend(blocks[::2])


def _ratio(subjects: Mapping[str, Callable[[], object]], first: str, second: str) -> float:
    return ratio(on_the_processor(subjects, RUNS), first, second)
