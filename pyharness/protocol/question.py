"""A question that one process asks another: its name on the wire, its fields, and the type of its answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar, get_args

from pyharness.model.codec import decode, encode

if TYPE_CHECKING:
    from typing import Self  # type: ignore[attr-defined]  # from Python 3.11 on, and only types

Answer = TypeVar("Answer")


class Question(Generic[Answer]):
    """``class Where(Family[Location], name="where")``: frozen dataclasses, one class for each name of a family."""

    tag: ClassVar[str]
    """The question's name on the wire."""
    answer_type: ClassVar[Any]
    known: ClassVar[dict[str, type[Question[Any]]]]
    """All questions of the family, by name."""

    def __init_subclass__(cls, *, name: str = "", **others: Any) -> None:
        super().__init_subclass__(**others)
        if Question in cls.__bases__:
            cls.known = {}
        if not name:
            return
        if name in cls.known:
            raise TypeError(f"two questions are called {name}")
        cls.tag, cls.known[name] = name, cls
        (base,) = cls.__orig_bases__  # type: ignore[attr-defined]  # what Generic leaves there
        (cls.answer_type,) = get_args(base)

    def to_json(self) -> dict[str, Any]:
        """The fields, without the name."""
        written: dict[str, Any] = encode(self)
        return written

    @classmethod
    def from_json(cls, data: Any) -> Self:
        """The question with these fields; ``MalformedError`` names what is wrong with them."""
        return decode(cls, data, cls.tag)

    @classmethod
    def read_answer(cls, data: Any) -> Answer:
        """The answer that the other side gave; ``MalformedError`` names what is wrong with it."""
        answer: Answer = decode(cls.answer_type, data, f"the answer to {cls.tag}")
        return answer
