"""What a shell offers for a word that is not typed to its end: running programs, session files, places."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from pyharness.model.text.visible import visible

if TYPE_CHECKING:
    from collections.abc import Iterator

    import click
    from click.shell_completion import CompletionItem

_MOST = 200
"""Files or programs offered at most."""


def files(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Whatever the shell itself finds."""
    from click.shell_completion import CompletionItem

    return [CompletionItem(incomplete, type="file")]


def running(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Handles of ``pyharness run`` and ids of this user's Python processes, each with its command line."""
    from click.shell_completion import CompletionItem

    found = [(name, line) for name, line in _programs() if name.startswith(incomplete)]
    return [CompletionItem(name, help=visible(line)) for name, line in found[:_MOST]]


def running_or_file(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Running programs, and files where none of them is meant (a core file)."""
    return running(ctx, param, incomplete) or files(ctx, param, incomplete)


def sessions(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """TOML files and the folders on the way to them."""
    from click.shell_completion import CompletionItem

    return [CompletionItem(path) for path in _paths(incomplete, ".toml")]


def engines(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The engines that were built here."""
    from click.shell_completion import CompletionItem

    from pyharness.engine import shelf
    from pyharness.host.state import StateError

    try:
        return [CompletionItem(each.key) for each in shelf.all_kept() if each.key.startswith(incomplete)]
    except StateError:
        return []


def places(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The kinds of places, and the files of ``py:``."""
    from click.shell_completion import CompletionItem

    if incomplete.startswith("py:"):
        return [
            CompletionItem(f"py:{path}" if path.endswith("/") else f"py:{path}:")
            for path in _paths(incomplete[3:], ".py")
        ]
    from pyharness.model.where import SHAPES

    kinds = {f"{form.partition(':')[0]}:": means for form, means in reversed(SHAPES)}
    return [CompletionItem(kind, help=means) for kind, means in reversed(kinds.items()) if kind.startswith(incomplete)]


def _programs() -> Iterator[tuple[str, str]]:
    from pyharness.debugger.starting import processes
    from pyharness.host import handles

    for handle in handles.live():
        yield handle.name, handle.command
    for pid, line in sorted(processes.running_python().items()):
        yield str(pid), line


def _paths(incomplete: str, suffix: str) -> list[str]:
    """Files with this suffix and folders that go on from what is typed."""
    folder, _, begin = incomplete.rpartition("/")
    folder = f"{folder}/" if "/" in incomplete else ""
    found = []
    try:
        with os.scandir(Path(folder or ".").expanduser()) as entries:
            for entry in entries:
                if visible(entry.name) != entry.name:  # a shell would write it to the terminal
                    continue
                if entry.name.startswith(begin) and (begin or not entry.name.startswith(".")):
                    if entry.is_dir():
                        found.append(f"{folder}{entry.name}/")
                    elif entry.name.endswith(suffix):
                        found.append(folder + entry.name)
    except OSError:
        return []
    return sorted(found)[:_MOST]
