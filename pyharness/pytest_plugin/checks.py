"""What a test asks for: that no bad value is made in it, a record of what it runs, the same results of two modules."""

from __future__ import annotations

import math
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from pyharness.model.errors import UsageError, nearest

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping

    import torch

    from pyharness.model.results.overwritten import Overwritten
    from pyharness.model.results.trace import Trace
    from pyharness.model.results.verdict import Verdict

MARK = "pyharness"
_HAS = 'timeout=SECONDS, nan="fail" and max_new_ops=COUNT'


def seconds_of(marker: pytest.Mark | None, otherwise: float) -> float:
    """How long a test may take, in seconds, by its marker."""
    told = marker.kwargs.get("timeout") if marker else None
    return otherwise if told is None or not _is_seconds(told) else float(told)


def wrongly_asked(marker: pytest.Mark) -> str:
    """What is wrong with the marker of a test, with the remedy; empty for nothing."""
    if marker.args:
        return f"@pytest.mark.{MARK}({marker.args[0]!r}) says not what that is.\nIt has {_HAS}."
    for key, value in marker.kwargs.items():
        if key not in _KEYS:
            return str(UsageError(f"@pytest.mark.{MARK} has no {key!r}.", nearest(key, _KEYS) or f"It has {_HAS}."))
        fits, wrong = _KEYS[key]
        if not fits(value):
            return f"@pytest.mark.{MARK}({key}={value!r}) {wrong}"
    return ""


def _is_seconds(value: Any) -> bool:
    return isinstance(value, (int, float)) and not math.isnan(value) and value >= 0


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


_KEYS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "timeout": (_is_seconds, "is no number of seconds.\nIt is 0 for any time, or more."),
    "nan": (lambda value: bool(value == "fail"), 'is unknown.\nIt is nan="fail".'),
    "max_new_ops": (_is_count, "is no number of calls.\nIt is 0 or more."),
}
"""What the marker has, what each may be, and what is said of another value."""


def checked(item: pytest.Item, marker: pytest.Mark) -> Generator[None, object, object]:
    """The call of a test, as a hook's wrapper: it fails where what its marker asks for does not hold."""
    asked = marker.kwargs
    if "max_new_ops" in asked:
        from pyharness.pytest_plugin.op_counts import counted

        return (yield from counted(_without_bad_values(asked), item, asked["max_new_ops"]))
    return (yield from _without_bad_values(asked))


def _without_bad_values(asked: Mapping[str, Any]) -> Generator[None, object, object]:
    if "nan" not in asked:
        return (yield)
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


@contextmanager
def fails_where_overwritten() -> Generator[None, None, None]:
    """Watch saved tensors; where torch has an error for one that was written into, that is the test's."""
    from pyharness.model.results.overwritten_text import overwritten_lines
    from pyharness.model.text.told import text_of
    from pyharness.native.find_overwritten import find_overwritten, report

    found: list[Overwritten] = []
    with find_overwritten(found.append):
        try:
            yield
        except BaseException:
            for each in found:
                report(each)
            raise
    if found:
        pytest.fail("\n".join(text_of(overwritten_lines(each)) for each in found), pytrace=False)
