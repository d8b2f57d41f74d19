"""A frozen class does what ``dataclass(frozen=True)`` does: the same statements about both."""

from __future__ import annotations

import copy
import dataclasses

import pytest

from pyharness.model.frozen import frozen


def point_of(decorator):
    class Point:
        """A point with a name."""

        x: int
        y: int = 2
        tags: list[str] = dataclasses.field(default_factory=list)
        note: str = dataclasses.field(default="", compare=False, repr=False)

    return decorator(Point)


BOTH = pytest.mark.parametrize("point", [point_of(frozen), point_of(dataclasses.dataclass(frozen=True))])


@BOTH
def test_fields_come_by_place_by_name_and_by_default(point):
    assert dataclasses.astuple(point(1)) == (1, 2, [], "")
    assert dataclasses.astuple(point(1, y=3, tags=["a"])) == (1, 3, ["a"], "")
    assert point(1).tags is not point(1).tags
    assert dataclasses.replace(point(1), y=5) == point(1, 5)


@BOTH
@pytest.mark.parametrize(
    ("values", "named"), [((), {}), ((1, 2, [], "", 5), {}), ((1,), {"x": 1}), ((1,), {"z": 1})], ids=str
)
def test_what_does_not_fit_is_a_type_error(point, values, named):
    with pytest.raises(TypeError):
        point(*values, **named)


@BOTH
def test_nothing_of_it_can_be_changed(point):
    one = point(1)
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot assign to field 'x'"):
        one.x = 2
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot delete field 'x'"):
        del one.x
    assert one.x == 1


@BOTH
def test_equal_are_those_of_one_class_with_equal_fields(point):
    assert point(1, note="a") == point(1, note="b")
    assert point(1) != point(2)
    assert point(1) != (1, 2, [], "")
    assert point(1) != point_of(frozen)(1)
    assert repr(point(1)).endswith("Point(x=1, y=2, tags=[])")


def test_those_with_hashable_fields_are_keys():
    @frozen
    class Empty:
        pass

    @frozen
    class Pair(Empty):
        a: int
        b: tuple[int, ...] = ()

    assert len({Pair(1), Pair(1), Pair(2), Empty(), Empty()}) == 3
    assert hash(Pair(1, (2,))) == hash(Pair(1, (2,)))
    match Pair(1, (2,)):
        case Pair(a, b):
            assert (a, b) == (1, (2,))


def test_what_a_class_defines_itself_is_kept():
    @frozen
    class Named:
        name: str
        seen: list[str] = dataclasses.field(default_factory=list)

        def __post_init__(self) -> None:
            self.seen.append(self.name)

        def __repr__(self) -> str:
            return f"<{self.name}>"

    assert str(Named("a")) == "<a>"
    assert Named("a").seen == ["a"]


@frozen
class Kept:
    number: int
    words: tuple[str, ...] = ()


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
def test_copies_are_equal(copied):
    assert copied(Kept(1, ("a",))) == Kept(1, ("a",))
