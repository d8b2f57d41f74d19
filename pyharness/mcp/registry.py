"""The tools: a decorator registers one with what it takes, what it answers, and what a client may expect of it."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, field_validator
from pydantic_core import PydanticCustomError

from pyharness.model.frozen import frozen

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

    from pyharness.mcp.service import Service

Harm = Literal["none", "runs", "ends"]
"""What a call may do to a program: nothing; run it, or code in it; end it."""


def _texts(value: object) -> Iterator[str]:
    """All texts of an argument, however deep."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for pair in value.items():
            for each in pair:
                yield from _texts(each)
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each)


def _as_text(given: object) -> object:
    return str(given) if type(given) is int else given


ProcessName = Annotated[str, BeforeValidator(_as_text)]
"""The id of a process, which may be given as a number, or another name of it."""


class Asked(BaseModel):
    """Arguments of a tool; one that it does not know is an error, and not passed over."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @field_validator("*")
    @classmethod
    def _can_be_passed_on(cls, value: object) -> object:
        """Refuse a text that no file, program or process can be given."""
        if any("\0" in text for text in _texts(value)):
            raise PydanticCustomError("nul", "No file and no program can be given a NUL character")
        return value


class Told(BaseModel):
    """What a tool answers as data, beside the text for a reader."""

    model_config = ConfigDict(frozen=True)
    cursor: str = Field(
        default="", description="Where the text goes on: look with this cursor. Empty where it is whole."
    )


@frozen
class Answer:
    """The text of an answer, however long, and its data, which is short."""

    text: str
    told: Told


@frozen
class Tool:
    """What is known of a tool."""

    name: str
    title: str
    harm: Harm
    asked: type[Asked]
    told: type[Told]
    handler: Callable[[Service, Any], Awaitable[Answer]]

    @property
    def text(self) -> str:
        """What a client is told that it does."""
        return inspect.getdoc(self.handler) or ""


TOOLS: dict[str, Tool] = {}
"""Each by its name, in the order in which a session uses them."""
_Asked = TypeVar("_Asked", bound=Asked)


def tool(
    name: str, title: str, told: type[Told], *, harm: Harm
) -> Callable[[Callable[[Service, _Asked], Awaitable[Answer]]], Callable[[Service, _Asked], Awaitable[Answer]]]:
    """Register a tool; its handler's second parameter says what it takes. A second one of a name fails at import."""

    def register(
        handler: Callable[[Service, _Asked], Awaitable[Answer]],
    ) -> Callable[[Service, _Asked], Awaitable[Answer]]:
        if name in TOOLS:
            raise ValueError(f"two tools {name!r}")
        asked = list(inspect.signature(handler).parameters.values())[1].annotation
        TOOLS[name] = Tool(name, title, harm, inspect.unwrap(handler).__globals__[asked], told, handler)
        return handler

    return register
