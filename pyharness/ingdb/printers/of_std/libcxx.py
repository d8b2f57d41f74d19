"""Has gdb show the containers of libc++ (``std::__1``), which comes without printers, as GCC's show libstdc++'s."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from itertools import islice
from typing import TYPE_CHECKING, ClassVar

import gdb
import gdb.printing

from pyharness.ingdb.printers.of_std.callables import first_argument, name_at
from pyharness.ingdb.printers.of_std.libcxx_values import first
from pyharness.ingdb.printers.registry import MAX_LENGTH
from pyharness.ingdb.tensors.address import plain_type, referred
from pyharness.ingdb.tensors.members import address_of, find_base, member

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Child = tuple[str, gdb.Value]

_CONTAINER = re.compile(r"std::__1::(?P<kind>\w+)(?:<.*>)?")
_BLOCK_BYTES, _MIN_BLOCK = 4096, 16
"""A deque's blocks: as many elements as fit, at least so many."""
_STRING = re.compile(r"std::basic_string<char, std::char_traits<char>, std::allocator<char> ?>")
_ANY_HANDLER = re.compile(r"std::__1::__any_imp::_(?P<size>Small|Large)Handler<(?P<words>.*)>::__handle\b")


class _Printer(ABC):
    """What gdb asks for a value: a title, and what is in it."""

    hint = "array"
    """Whether gdb shows an array or a map."""

    def __init__(self, value: gdb.Value, name: str) -> None:
        self.value = value
        self.kind = plain_type(value.type)
        self.name = name

    def display_hint(self) -> str:
        """Whether gdb shows an array or a map."""
        return self.hint

    @abstractmethod
    def to_string(self) -> str:
        """The title."""

    @abstractmethod
    def children(self) -> Iterator[Child]:
        """What is in it, each by its name."""


class _Container(_Printer):
    """A printer of a value that has elements."""

    def to_string(self) -> str:
        length = len(self)
        if not 0 <= length < MAX_LENGTH:
            return f"<corrupt: a length of {length}>"
        return f"std::{self.name} with {length} element{'s' * (length != 1)}"

    def children(self) -> Iterator[Child]:
        length = len(self)
        if 0 <= length < MAX_LENGTH:
            yield from ((f"[{index}]", each) for index, each in enumerate(islice(self.elements(), length)))

    @abstractmethod
    def elements(self) -> Iterator[gdb.Value]:
        """The elements in their order."""

    @abstractmethod
    def __len__(self) -> int:
        """How many there are; what memory says, so that a corrupt one may be anything."""


class _Vector(_Container):
    def to_string(self) -> str:
        size = self.kind.template_argument(0).sizeof
        begin, end = int(self.value["__begin_"]), int(self.value["__end_"])
        room = int(first(member(self.value, "__end_cap_", "__cap_")))
        if begin > end or end > room or (end - begin) % size:
            return f"<corrupt: elements from {begin:#x} to {end:#x}>"
        return f"std::vector of length {(end - begin) // size}, capacity {(room - begin) // size}"

    def elements(self) -> Iterator[gdb.Value]:
        return ((self.value["__begin_"] + index).dereference() for index in range(len(self)))

    def __len__(self) -> int:
        size = self.kind.template_argument(0).sizeof
        return max(0, int(self.value["__end_"]) - int(self.value["__begin_"])) // size


class _Bits(_Container):
    """``std::vector<bool>``."""

    def to_string(self) -> str:
        room = int(first(member(self.value, "__cap_alloc_", "__cap_"))) * 64
        return f"std::vector<bool> of length {len(self)}, capacity {room}"

    def elements(self) -> Iterator[gdb.Value]:
        words = self.value["__begin_"]
        return (gdb.Value(bool(int(words[at // 64]) >> at % 64 & 1)) for at in range(len(self)))

    def __len__(self) -> int:
        return int(self.value["__size_"])


class _List(_Container):
    def to_string(self) -> str:
        return f"std::{self.name}" if len(self) else f"empty std::{self.name}"

    def elements(self) -> Iterator[gdb.Value]:
        node = _node_type("__list_node", self.kind).pointer()
        end = address_of(self._ends)
        at = end["__next_"]
        while int(at) != int(end):
            whole = at.cast(node)
            yield whole["__value_"]
            at = whole["__next_"]

    @property
    def _ends(self) -> gdb.Value:
        found = find_base(self.value, "std::__1::__list_imp<")
        return (self.value if found is None else found)["__end_"]

    def __len__(self) -> int:
        found = find_base(self.value, "std::__1::__list_imp<")
        return int(first(member(self.value if found is None else found, "__size_alloc_", "__size_")))


class _Deque(_Container):
    def elements(self) -> Iterator[gdb.Value]:
        size = self.kind.template_argument(0).sizeof
        block = max(_BLOCK_BYTES // size, _MIN_BLOCK)
        blocks, start = self._whole["__map_"]["__begin_"], int(self._whole["__start_"])
        return (blocks[at // block][at % block] for at in range(start, start + len(self)))

    @property
    def _whole(self) -> gdb.Value:
        found = find_base(self.value, "std::__1::__deque_base<")
        return self.value if found is None else found

    def __len__(self) -> int:
        return int(first(self._whole["__size_"]))


class _Set(_Container):
    """A sorted container: a tree."""

    def elements(self) -> Iterator[gdb.Value]:
        tree = self.value["__tree_"]
        node = _node_type("__tree_node", plain_type(tree.type)).pointer()
        at = member(tree, "__begin_node_", "__begin_node")
        for _ in range(len(self)):
            yield at.cast(node)["__value_"]
            at = _next_in_tree(at.cast(node))

    def __len__(self) -> int:
        return int(first(member(self.value["__tree_"], "__pair3_", "__size_")))


def _next_in_tree(node: gdb.Value) -> gdb.Value:
    """The node that follows: the leftmost one to the right, else the first ancestor to whose left this one is."""
    if int(node["__right_"]):
        down = node["__right_"].cast(node.type)
        while int(down["__left_"]):
            down = down["__left_"].cast(node.type)
        return down
    up = node["__parent_"].cast(node.type)
    while int(up["__left_"]) != int(node):
        node, up = up, up["__parent_"].cast(node.type)
    return up


class _HashSet(_Container):
    """A container without an order: a table, whose nodes are one list."""

    def elements(self) -> Iterator[gdb.Value]:
        table = self.value["__table_"]
        node = _node_type("__hash_node", plain_type(table.type)).pointer()
        at = first(member(table, "__p1_", "__first_node_"))["__next_"]
        while int(at):
            whole = at.cast(node)
            yield member(whole.dereference(), "__value_")
            at = whole["__next_"]

    def __len__(self) -> int:
        return int(first(member(self.value["__table_"], "__p2_", "__size_")))


class _Pairs(_Container):
    """A map: the keys and values of a set's elements."""

    hint = "map"
    of: ClassVar[type[_Container]]

    def __init__(self, value: gdb.Value, name: str) -> None:
        super().__init__(value, name)
        self._set = self.of(value, name)

    def elements(self) -> Iterator[gdb.Value]:
        for pair in islice(self._set.elements(), len(self)):
            both = member(pair, "__cc", "__cc_")
            yield both["first"]
            yield both["second"]

    def children(self) -> Iterator[Child]:
        return ((f"[{index}]", each) for index, each in enumerate(self.elements()))

    def __len__(self) -> int:
        return len(self._set)


class _Map(_Pairs):
    of = _Set


class _HashMap(_Pairs):
    of = _HashSet


class _Variant(_Printer):
    def to_string(self) -> str:
        index = self._index
        said = "[no contained value]" if index < 0 else f"[index {index}]"
        return f"std::variant<{', '.join(short_name(str(kind)) for kind in self._kinds)}> {said}"

    def children(self) -> Iterator[Child]:
        if 0 <= self._index < len(self._kinds):
            content = self._whole["__data"]
            for _ in range(self._index):
                content = content["__tail"]
            yield "[contained value]", content["__head"]["__value"]

    @property
    def _kinds(self) -> list[gdb.Type]:
        found: list[gdb.Type] = []
        try:
            while len(found) < 100:
                found.append(self.kind.template_argument(len(found)))
        except RuntimeError:  # that was the last one
            pass
        return found

    @property
    def _whole(self) -> gdb.Value:
        found = find_base(member(self.value, "__impl_", "__impl"), "std::__1::__variant_detail::__base<")
        if found is None:
            raise gdb.error("a variant of another libc++")
        return found

    @property
    def _index(self) -> int:
        index = self._whole["__index"]
        found = int(index)
        return -1 if found == (1 << 8 * index.type.sizeof) - 1 else found


class _Any(_Printer):
    hint = "any"

    def to_string(self) -> str:
        kind = self._kind
        return f"std::any containing {short_name(kind)}" if kind else "std::any [no contained value]"

    def children(self) -> Iterator[Child]:
        if kind := self._kind:
            held = gdb.lookup_type(kind)
            store = member(self.value, "__s_", "__s")
            is_small = self._handler["size"] == "Small" if self._handler else True
            at = store["__buf"].address if is_small else store["__ptr"]
            if at is not None:
                yield "[contained value]", at.cast(held.pointer()).dereference()

    @property
    def _handler(self) -> re.Match[str] | None:
        address = int(member(self.value, "__h_", "__h"))
        return _ANY_HANDLER.search(name_at(address)) if address else None

    @property
    def _kind(self) -> str:
        return first_argument(self._handler["words"]) if self._handler else ""


def short_name(name: str) -> str:
    """The name of a type without libc++'s own namespace, as people write it."""
    return _STRING.sub("std::string", name.replace("std::__1::", "std::"))


def _node_type(name: str, kind: gdb.Type) -> gdb.Type:
    return gdb.lookup_type(f"std::__1::{name}<{kind.template_argument(0)}, void*>")


_KINDS: dict[str, Callable[[gdb.Value, str], _Printer]] = {
    "vector": _Vector,
    "list": _List,
    "deque": _Deque,
    "set": _Set,
    "multiset": _Set,
    "map": _Map,
    "multimap": _Map,
    "unordered_set": _HashSet,
    "unordered_multiset": _HashSet,
    "unordered_map": _HashMap,
    "unordered_multimap": _HashMap,
    "variant": _Variant,
    "any": _Any,
}


def container(value: gdb.Value) -> _Printer | None:
    """A container of libc++, as gdb asks for it; ``None`` for anything else."""
    kind = plain_type(value.type)
    found = _CONTAINER.fullmatch(kind.name or "") if kind.code == gdb.TYPE_CODE_STRUCT else None
    if found is None or found["kind"] not in _KINDS:
        return None
    made = _KINDS[found["kind"]]
    if made is _Vector and kind.template_argument(0).strip_typedefs().name == "bool":
        made = _Bits
    return made(referred(value), found["kind"])


class _Printers:
    """What gdb keeps in its list of printers."""

    name = "pyharness-libc++"
    enabled = True
    subprinters = None

    def __call__(self, value: gdb.Value) -> _Printer | None:
        return container(value)


def register() -> None:
    """Have gdb ask `container` for every value it prints."""
    gdb.printing.register_pretty_printer(None, _Printers(), replace=True)
