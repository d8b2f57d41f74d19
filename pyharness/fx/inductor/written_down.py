"""A copy of a kernel that writes down its variables, element by element, and what such a copy has written.

The copy computes what the kernel does. Each variable that the map knows goes to a file in the order of the loops: the
loops' variables that its element is counted by, the lanes of a vector, and which of these count.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch

from pyharness.model.kernel_text import computed, head_of, names_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from pyharness.model.kernel_map import Held, KernelLine

FILE = "PYHARNESS_KERNEL_LOG"
"""The variable of the environment that names the file."""
_DECLARED = re.compile(r"\s*(?:const )?auto \w+ =")
MOST = 1 << 25
"""Numbers that a copy keeps; beyond them it computes on and writes nothing down."""
_LOG = r"""
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <map>
#include <mutex>
#include <utility>
#include <vector>
namespace pyharness_log {
static std::mutex lock;
static std::map<std::pair<int, int>, std::vector<double>> rows;
static size_t kept = 0;
template <typename T> double number(T value) { return static_cast<double>(value); }
template <typename T> double lane(const T& value, int) { return number(value); }
template <typename T> double lane(const at::vec::Vectorized<T>& value, int i) {
  T stored[at::vec::Vectorized<T>::size()];
  value.store(stored);
  return number(stored[i]);
}
template <typename T, int N> double lane(const at::vec::VectorizedN<T, N>& value, int i) {
  T stored[at::vec::VectorizedN<T, N>::size()];
  value.store(stored);
  return number(stored[i]);
}
template <typename T, int N> double lane(const at::vec::VecMask<T, N>& value, int i) { return value.is_masked(i); }
template <typename T, typename M>
void row(int line, std::initializer_list<double> at, int lanes, const T& value, const M& mask) {
  std::lock_guard<std::mutex> held(lock);
  if (kept > MOST) return;
  auto& found = rows[std::make_pair(line, lanes)];
  found.insert(found.end(), at);
  for (int i = 0; i < lanes; i++) found.push_back(lane(value, i));
  for (int i = 0; i < lanes; i++) found.push_back(lane(mask, i) ? 1 : 0);
  kept += at.size() + 2 * lanes;
}
struct Opened {
  ~Opened() {
    std::FILE* file = std::fopen(std::getenv("PYHARNESS_KERNEL_LOG"), "wb");
    for (auto& [key, found] : rows) {
      double head[3] = {double(key.first), double(key.second), double(found.size())};
      if (file) std::fwrite(head, sizeof(double), 3, file);
      if (file) std::fwrite(found.data(), sizeof(double), found.size(), file);
    }
    if (file) std::fclose(file);
    rows.clear();
    kept = 0;
  }
};
}
""".replace("MOST", str(MOST))


@dataclass(frozen=True)
class Rows:
    """What one line wrote down, with one number of lanes."""

    line: int
    at: torch.Tensor
    """``[rows, names]``: the loops' variables that ``counted_by`` names."""
    lanes: torch.Tensor
    """``[rows, lanes]``: the numbers, as float64."""
    counts: torch.Tensor
    """``[rows, lanes]``: which of them count."""

    @property
    def size(self) -> int:
        """How many numbers of the file they are."""
        return self.at.numel() + self.lanes.numel() + self.counts.numel()


def copy_of(source: str, lines: Sequence[KernelLine]) -> str:
    """The text of a kernel that writes down each variable of ``lines`` that is of a node, or was loaded."""
    texts = source.split("\n")
    by_line = {row.line: row for row in lines}
    out: list[str] = []
    after: KernelLine | None = None
    included = begun = False
    head = head_of(source)
    for number, text in enumerate(texts, 1):
        out.append(text)
        if text.startswith("#include") and not included:
            included = True
            out.append(_LOG)
        if text == "{" and not begun and number > head:  # a template has functions before
            begun = True
            out.append("    pyharness_log::Opened pyharness_opened;")
        row = by_line.get(number)
        if row and row.variable and _DECLARED.match(text) and (row.holds or row.reads):
            after = row
        if after and text.rstrip().endswith(";") and _indent(text) <= _indent(texts[after.line - 1]):
            out.append(_written(after))
            after = None
    return "\n".join(out)


def counted_by(row: KernelLine) -> list[str]:
    """The variables that the elements of a row are counted by; an index that was loaded may be a vector itself."""
    found = dict.fromkeys(name for held in row.holds for each in held.element for name in names_in(each))
    return [name for name in found if not name.startswith("tmp")]


def is_counted(held: Held) -> bool:
    """Whether the element can be told from the loops' variables alone."""
    return not any("tmp" in each for each in held.element)


def read(path: Path, lines: Sequence[KernelLine]) -> Iterator[Rows]:
    """What the copy of a kernel with ``lines`` has written to ``path``; nothing where it did not come to its end."""
    try:
        data = bytearray(path.read_bytes())
    except OSError:
        return
    numbers = torch.frombuffer(data, dtype=torch.float64) if data else torch.empty(0, dtype=torch.float64)
    by_line = {row.line: row for row in lines}
    position = 0
    while position + 3 <= len(numbers):
        line, lanes, size = (int(each) for each in numbers[position : position + 3])
        position += 3
        names = len(counted_by(by_line[line]))
        block = numbers[position : position + size].reshape(-1, names + 2 * lanes)
        position += size
        at, values, counts = torch.split(block, [names, lanes, lanes], dim=1)
        yield Rows(line, at, values, counts > 0)


def element_of(held: Held, row: KernelLine, rows: Rows) -> tuple[torch.Tensor, ...]:
    """The index of each number that counts, dimension by dimension."""
    shape = rows.lanes.shape
    spread = torch.arange(shape[1]).expand(shape)
    scope = {name: rows.at[:, i : i + 1].long().expand(shape) for i, name in enumerate(counted_by(row))}
    if row.lanes and row.lanes[0][0] in scope:
        scope[row.lanes[0][0]] = scope[row.lanes[0][0]] + spread
    return tuple(_evaluated(each, scope, shape)[rows.counts] for each in held.element)


def _evaluated(text: str, scope: dict[str, torch.Tensor], shape: Sequence[int]) -> torch.Tensor:
    value = computed(text, scope.__getitem__, _OF_TENSORS)
    return torch.as_tensor(value).expand(shape).long()


def _least(*values: Any) -> torch.Tensor:
    return functools.reduce(torch.minimum, map(torch.as_tensor, values))


def _most(*values: Any) -> torch.Tensor:
    return functools.reduce(torch.maximum, map(torch.as_tensor, values))


_OF_TENSORS: dict[str, Callable[..., Any]] = {"min": _least, "max": _most, "abs": torch.abs}


def _indent(text: str) -> int:
    return len(text) - len(text.lstrip())


def _written(row: KernelLine) -> str:
    names = ", ".join(f"(double){name}" for name in counted_by(row))
    lanes = row.lanes[0][1].replace("//", "/") if row.lanes else "1"  # Python as C++: none is negative
    return f"pyharness_log::row({row.line}, {{{names}}}, {lanes}, {row.variable}, {row.mask or 'true'});"
