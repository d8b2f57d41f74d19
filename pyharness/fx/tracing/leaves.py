"""Which modules are meant: by type, by path, by predicate, or the very one."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, TypeAlias

from torch import nn

from pyharness.model.errors import UsageError, nearest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

Rule: TypeAlias = "type[nn.Module] | nn.Module | str | Callable[[nn.Module, str], bool]"
"""A class (its subclasses too), a module, a path or pattern (``blocks.*.norm``, as ``fnmatch`` reads it), or a function
of module and path."""

Given: TypeAlias = "Rule | Iterable[Rule]"

_NO_RULE = "Give a module class, a module, a path such as blocks.*.norm, or a function of (module, path)."


@dataclass(frozen=True)
class ModuleRules:
    """Rules of one kind; a module is meant where any of them says so."""

    rules: tuple[Rule, ...] = ()

    @classmethod
    def of(cls, given: Given) -> ModuleRules:
        """One rule or many; ``UsageError`` for what is none."""
        rules = (given,) if isinstance(given, str | nn.Module | type) or callable(given) else tuple(given)
        for rule in rules:
            _check(rule)
        return cls(rules)

    def rank(self, module: nn.Module, path: str) -> int | None:
        """How closely a rule names ``module``; ``None`` where none does.

        0 by itself or by its very path, 1 by a pattern of paths or by type, 2 by predicate.
        """
        return min((rank for rank in self._ranks(module, path) if rank is not None), default=None)

    def check_paths(self, root: nn.Module) -> None:
        """Raise ``UsageError`` for a path that no module below ``root`` has: a typo would change nothing, silently."""
        paths = tuple(path for path, _ in root.named_modules() if path)
        for rule in self.rules:
            if isinstance(rule, str) and not any(fnmatchcase(path, rule) for path in paths):
                raise UsageError(f"{type(root).__name__} has no module {rule!r}.", nearest(rule, paths) or _NO_RULE)

    def _ranks(self, module: nn.Module, path: str) -> Iterator[int | None]:
        for rule in self.rules:
            if isinstance(rule, str):
                yield 0 if path == rule else 1 if fnmatchcase(path, rule) else None
            elif isinstance(rule, nn.Module):
                yield 0 if rule is module else None
            elif isinstance(rule, type):
                yield 1 if isinstance(module, rule) else None
            else:
                yield 2 if rule(module, path) else None


def is_leaf(leaves: ModuleRules, inline: ModuleRules, module: nn.Module, path: str) -> bool | None:
    """Whether to keep ``module`` whole; ``None`` where no rule says anything.

    Where both do, the closer one counts (a path, then a pattern or a type, then a predicate), ``leaves`` in a tie.
    """
    whole, traced = leaves.rank(module, path), inline.rank(module, path)
    if whole is None and traced is None:
        return None
    return traced is None or (whole is not None and whole <= traced)


def _check(rule: object) -> None:
    if isinstance(rule, type) and not issubclass(rule, nn.Module):
        raise UsageError(f"{rule.__name__} is not a class of modules.", _NO_RULE)
    if not (isinstance(rule, str) or callable(rule)):
        raise UsageError(f"{rule!r} names no module.", _NO_RULE)
