"""The keys that are documented are those that the parser takes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyharness.session import keys, parse
from pyharness.session.document import Table

if TYPE_CHECKING:
    from pathlib import Path

EVERY_TABLE = """
[program]
script = "train.py"

[[step]]
at = "py:train.py:1"
expect = { fx = { node = "add" }, stack_contains = [{ function = "f", fx = { node = "add" } }] }
"""


def test_the_parser_takes_what_is_documented(tmp_path: Path, monkeypatch):
    (tmp_path / "train.py").write_text("x = 1\n")
    (tmp_path / "session.toml").write_text(EVERY_TABLE)
    taken: dict[tuple[str, ...], set[str]] = {}
    done = Table.done

    def noted(table: Table) -> None:
        path = tuple(each for each in table._path if isinstance(each, str))
        taken.setdefault(path, set()).update(table._known)
        done(table)

    monkeypatch.setattr(Table, "done", noted)
    parse.plan_of(str(tmp_path / "session.toml"))

    def documented(*tables: tuple[keys.Key, ...], below: str = "") -> set[str]:
        names = [key.name for table in tables for key in table]
        if below:
            return {name.removeprefix(below) for name in names if name.startswith(below)}
        return {name.partition(".")[0] for name in names}

    assert taken == {
        (): documented(keys.TOP),
        ("program",): documented(keys.PROGRAM),
        ("step",): documented(keys.STEP),
        ("step", "expect"): documented(keys.FRAME, keys.EXPECT),
        ("step", "expect", "fx"): documented(keys.FRAME, below="fx."),
        ("step", "expect", "stack_contains"): documented(keys.FRAME),
        ("step", "expect", "stack_contains", "fx"): documented(keys.FRAME, below="fx."),
    }
