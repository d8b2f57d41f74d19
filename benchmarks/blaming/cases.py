"""The planted faults: who is to blame, and by which words one knows that a tool has told why."""

from __future__ import annotations

from dataclasses import dataclass, field

from benchmarks.blaming.job import SCRIPT


@dataclass(frozen=True)
class Case:
    """One fault.

    ``reason`` is searched in what a tool says of the rank that it blames. ``place`` is searched in what it prints of
    each rank: it must be there for the ranks ``seen_at``, and for no other.
    """

    name: str
    culprits: frozenset[int]
    reason: str
    place: str
    seen_at: frozenset[int]
    fault: str = ""
    environment: dict[str, str] = field(default_factory=dict)


def _at(function: str) -> str:
    return rf"\b{function} \(|line \d+ in {function}\b"


def _line(mark: str) -> str:
    lines = SCRIPT.read_text().splitlines()
    number = next(number for number, line in enumerate(lines, 1) if line.endswith(f"# @{mark}"))
    return rf'faults\.py(:|", line ){number}\b'


def _one(name: str, reason: str, place: str, culprit: int = 1, **more: object) -> Case:
    culprits = frozenset({culprit})
    return Case(name, culprits, reason, place, culprits, **more)  # type: ignore[arg-type]


def _circle(name: str, reason: str, place: str, *seen_at: int) -> Case:
    return Case(name, frozenset({0, 1}), reason, place, frozenset(seen_at))


_LATE = ("sleeps", "computes", "native_lock", "gil_kept", "python_lock", "asks", "stopped", "children")
_GONE = r"has ended|No such process|Failed to (open|get)|Connection refused"
CASES = (
    *(_one(name, "all_reduce", _at(name)) for name in _LATE),
    _one("raises", "all_reduce", _at("_shutdown") + "|ValueError"),
    _one("loader_worker", "all_reduce", _at("__getitem__")),
    _one("compiles", "all_reduce", _at("slow")),
    _one("sleeps, no recorder", "all_reduce", _at("sleeps"), fault="sleeps", environment={"TORCH_FR_BUFFER_SIZE": "0"}),
    _one("swapped", "broadcast", r"\bbroadcast\b"),
    _one("other_shape", r"\[2\]|SIZE_OR_SYNTAX", r"\bsize: 2\b|\[\s*2\s*\]"),
    _one("other_root", "root", r"\b(src|root):? 1\b"),
    _one("uneven_batches", "barrier", r"\bbarrier\b"),
    _one("unused_parameter", "barrier", r"\bbarrier\b"),
    _one("barrier_of_one", "barrier", r"\bbarrier\b", culprit=0),
    _circle("subgroup", "broadcast", r"\bbroadcast\b", 0),
    _circle("crossed", "all_reduce", _at("crossed"), 0, 1),
    _circle("recv_without_send", "all_reduce", r"\brecv\b", 0),
    _one("never_begins", "rendezvous|store", _line("never_begins")),
    _one("dies", "rendezvous|store", _GONE),
)
