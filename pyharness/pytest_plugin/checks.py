"""What a test asks for: that no bad value is made in it, a record of what it runs, the same results of two modules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from pyharness.model.errors import UsageError, nearest

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    import torch

    from pyharness.model.results.trace import Trace
    from pyharness.model.results.verdict import Verdict

MARK = "pyharness"
_KEYS = ("timeout", "nan")


def seconds_of(item: pytest.Item, otherwise: float) -> float:
    """How long a test may take, in seconds."""
    return float(_asked(item).get("timeout", otherwise))


def _asked(item: pytest.Item) -> dict[str, Any]:
    marker = item.get_closest_marker(MARK)
    return dict(marker.kwargs) if marker else {}


def checked(item: pytest.Item) -> Generator[None, object, object]:
    """The call of a test, as a hook's wrapper: a bad value fails it where ``nan="fail"`` says so."""
    asked = _asked(item)
    for key in asked:
        if key not in _KEYS:
            raise UsageError(f"@pytest.mark.{MARK} has no {key!r}.", nearest(key, _KEYS) or "It has timeout and nan.")
    if "nan" not in asked:
        return (yield)
    if asked["nan"] != "fail":
        raise UsageError(f"@pytest.mark.{MARK}(nan={asked['nan']!r}) is unknown.", 'It is nan="fail".')
    import pyharness

    with pyharness.find_nan():
        return (yield)


def record(function: Callable[[], object]) -> Trace:
    """What a function of no arguments runs: its ops and autograd nodes."""
    import pyharness

    with pyharness.record() as recording:
        function()
    return recording.trace


def verify(original: torch.nn.Module, transform: Callable[..., Any], inputs: Any = (), **options: Any) -> Verdict:
    """Fail the test where a transform changes what a module computes of the inputs; else the verdict."""
    from pyharness import fx
    from pyharness.fx.hashseeds.references import applied

    verdict = fx.verify(original, applied(transform, original), inputs, **options)
    if not verdict:
        pytest.fail(str(verdict), pytrace=False)
    return verdict
