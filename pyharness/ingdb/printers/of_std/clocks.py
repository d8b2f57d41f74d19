"""How durations and points in time of ``std::chrono`` are shown: with their unit, as a date."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from fractions import Fraction
from typing import TYPE_CHECKING

from pyharness.ingdb.printers.registry import shows
from pyharness.ingdb.tensors.address import plain_type
from pyharness.ingdb.tensors.members import member, number_in

if TYPE_CHECKING:
    import gdb

_UNITS = {
    Fraction(1, 10**9): "ns",
    Fraction(1, 10**6): "µs",
    Fraction(1, 1000): "ms",
    Fraction(1): "s",
    Fraction(60): "min",
    Fraction(3600): "h",
    Fraction(86400): "d",
}
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


@shows(r"std::(?:__1::)?chrono::duration<.*>")
def _duration(value: gdb.Value) -> str:
    period = _period(plain_type(value.type))
    count = _count(value)
    number = repr(float(count)) if _is_float(value) else str(int(count))
    unit = _UNITS.get(period)
    return f"{number} {unit}" if unit else f"{number} of {period} s"


@shows(r"std::(?:__1::)?chrono::time_point<.*>")
def _time_point(value: gdb.Value) -> str:
    kind = plain_type(value.type)
    clock = kind.template_argument(0).name or ""
    if "system_clock" not in clock:
        return f"{_duration(member(value, '__d', '__d_'))} on {clock.rpartition('::')[2]}"
    since = member(value, "__d", "__d_")
    count = Fraction(float(_count(since))) if _is_float(since) else int(_count(since))
    nanoseconds = int(count * _period(plain_type(since.type)) * 10**9)
    seconds, rest = divmod(nanoseconds, 10**9)
    try:
        day = (_EPOCH + timedelta(seconds=seconds)).strftime("%Y-%m-%d %H:%M:%S")
    except OverflowError:
        return f"{_duration(since)} since 1970"
    return f"{day}.{rest:09d}".rstrip("0").rstrip(".") + " UTC"


def _is_float(duration: gdb.Value) -> bool:
    return _count(duration).type.strip_typedefs().name in {"float", "double"}


def _count(duration: gdb.Value) -> gdb.Value:
    return member(duration, "__r", "__rep_")


def _period(duration: gdb.Type) -> Fraction:
    ratio = duration.template_argument(1)
    return Fraction(number_in(ratio, 0) or 0, number_in(ratio, 1) or 1)
