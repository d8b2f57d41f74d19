"""Who holds a job up, and with what, as far as one look can tell."""

from __future__ import annotations

from typing import Any, Literal

from pyharness.model.frozen import frozen

Kind = Literal["absent", "mismatch", "crossed", "failed", "behind", "alone", "moves", "unknown"]
"""``absent``: a rank has not come to what others wait in. ``mismatch``: it came with another call. ``crossed``: ranks
wait for each other in several groups. ``failed``: one has crashed or raised, and nobody is seen that waits for it.
``behind``: one has not come yet, and may. ``alone``: nobody waits for anybody, and still nothing moves. ``moves``: the
job runs. ``unknown``: nothing that can be told."""
_FAULTS = {"absent", "mismatch", "crossed", "failed"}


@frozen
class Verdict:
    """What is said of a job."""

    kind: Kind
    sentence: str
    """What it is, for people: one to three sentences."""
    culprits: tuple[int, ...] = ()
    """The ranks that others wait for, that came with something else, or failed; none where none is to blame."""
    waiting: tuple[int, ...] = ()
    """The ranks that wait."""
    by_stacks: bool = False
    """Whether no record of collectives stands behind it: then one look may mislead."""

    @property
    def is_fault(self) -> bool:
        """Whether something is wrong: it does not end by itself."""
        return self.kind in _FAULTS

    def to_json(self) -> dict[str, Any]:
        """The object that ``--json`` prints."""
        return {
            "kind": self.kind,
            "sentence": self.sentence,
            "culprits": list(self.culprits),
            "waiting": list(self.waiting),
            "by_stacks": self.by_stacks,
        }
