"""Runs one graph as torch's inductor compiled it: exits with 1 while its results are wrong, with 0 once they are not.

wrapper.py is the code that inductor generated, kernels and all, to read and to edit. data.pt has what it is called
with, and what its graph computes eagerly. The kernels are compiled into the folder cache, without optimization, so that
a debugger comes to their lines one after the other.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
os.environ["AOT_INDUCTOR_DEBUG_COMPILE"] = "1"

import torch  # noqa: E402
import torch._inductor.compile_fx  # noqa: E402
from torch._inductor.codecache import PyCodeCache  # noqa: E402
from torch._inductor.cpu_vec_isa import valid_vec_isa_list  # noqa: E402


def differs(actual: Any, expected: dict[str, torch.Tensor]) -> int:
    """How many elements are none that rounding makes of what is expected."""
    if not actual.is_floating_point():
        return int((actual != expected["value"]).sum())
    off = (actual.double() - expected["value"]).abs()
    same = (actual == expected["value"]) | (actual.isnan() & expected["value"].isnan())
    return int((~((off <= expected["allowed"]) | same)).sum())


def main() -> int:
    """Run the graph, and compare what it gives back."""
    valid_vec_isa_list()  # compiles for seconds in a new folder; torch's own cache has what it found
    os.environ["TORCHINDUCTOR_CACHE_DIR"] = str(HERE / "cache")
    data = torch.load(HERE / "data.pt", weights_only=True)
    wrapper: Any = PyCodeCache.load((HERE / "wrapper.py").read_text(encoding="utf-8"))
    with torch.no_grad():
        results = wrapper.call(list(data["inputs"]))  # here: the compiled graph
    for number, expected in data["results"].items():
        count = differs(results[number], expected)
        if count:
            print(f"It fails: {count:,} of {results[number].numel():,} elements of result {number} are wrong.")
            return 1
    print("It does not fail: all results are right.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
