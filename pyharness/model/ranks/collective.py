"""Collectives and messages as torch's flight recorder notes them, in one rank."""

from __future__ import annotations

from typing import Any, Literal

from pyharness.model.frozen import frozen

State = Literal["scheduled", "started", "completed"]
Shape = tuple[int, ...]


@frozen
class Collective:
    """One call of a process group: a collective, or a message from one rank to another."""

    operation: str
    """The name that torch has for it, without the backend: ``all_reduce``, ``recv 0<-1``."""
    sequence: int
    """The number of the collective in its group, from 1 on; of a message among the messages."""
    backend: str = ""
    is_message: bool = False
    """Whether it is between two ranks (send, recv)."""
    inputs: tuple[Shape, ...] = ()
    outputs: tuple[Shape, ...] = ()
    dtypes: tuple[str, ...] = ()
    """The dtypes of the inputs, or of the outputs where there are no inputs."""
    created: float = 0.0
    """Seconds since the epoch, by the clock of the rank's host."""
    timeout: float = 0.0
    """Seconds."""
    state: State = "scheduled"
    """Gloo does not note when one starts: from ``scheduled`` it comes to ``completed``."""
    place: str = ""
    """``FILE:LINE`` of the innermost line outside of torch that called it; empty where none is known."""

    @property
    def is_over(self) -> bool:
        """Whether the rank is done with it."""
        return self.state == "completed"

    def to_json(self) -> dict[str, Any]:
        """The object that ``--json`` prints."""
        return {
            **vars(self),
            "inputs": [list(shape) for shape in self.inputs],
            "outputs": [list(shape) for shape in self.outputs],
            "dtypes": list(self.dtypes),
        }


@frozen
class Group:
    """One process group as one of its ranks knows it."""

    name: str
    description: str = ""
    """``default_pg`` for the group of all ranks; ``undefined`` or empty where the program gave none."""
    ranks: tuple[int, ...] = ()
    """The members by their global ranks; empty where that is not known."""
    collectives: tuple[Collective, ...] = ()
    """Oldest first: all that are not over, and the last of those that are."""

    def to_json(self) -> dict[str, Any]:
        """The object that ``--json`` prints."""
        return {
            "name": self.name,
            "description": self.description,
            "ranks": list(self.ranks),
            "collectives": [one.to_json() for one in self.collectives],
        }


def collective_from_json(data: dict[str, Any]) -> Collective:
    """The collective that ``Collective.to_json`` wrote; `TypeError` or `KeyError` for what is none."""
    shapes = {name: tuple(tuple(map(int, shape)) for shape in data[name]) for name in ("inputs", "outputs")}
    return Collective(**{**data, **shapes, "dtypes": tuple(data["dtypes"])})


def group_from_json(data: dict[str, Any]) -> Group:
    """The group that ``Group.to_json`` wrote; `TypeError` or `KeyError` for what is none."""
    found = tuple(collective_from_json(one) for one in data["collectives"])
    return Group(data["name"], data["description"], tuple(map(int, data["ranks"])), found)
