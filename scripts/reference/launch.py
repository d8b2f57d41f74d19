"""docs/reference/launch.md: the attributes of launch and attach, settings and commands, from vscode/package.json."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markdown import cell, code, table

if TYPE_CHECKING:
    from collections.abc import Iterator

_MANIFEST = Path(__file__).parents[2] / "vscode" / "package.json"
_DOES = {"launch": "starts a program, or opens a core file", "attach": "comes to a program that runs"}


def page() -> Iterator[str]:
    """The page."""
    contributes = json.loads(_MANIFEST.read_text(encoding="utf-8"))["contributes"]
    debugger = contributes["debuggers"][0]
    yield from (
        "# Launch attributes",
        "",
        f"What a configuration of type `{debugger['type']}` may say, in `.vscode/launch.json`",
        "([VS Code](../vscode.md)), and in the `launch` and `attach` requests of any other client of",
        "[the debug adapter](../dap.md). An attribute that does not exist is refused, with the nearest that does.",
        "",
    )
    for request, attributes in debugger["configurationAttributes"].items():
        yield from (f"## {request}", "", f"`{request}` {_DOES[request]}. It needs {_needed(attributes)}.", "")
        head = ("attribute", "type", "default", "says")
        yield from table(head, (_row(name, each) for name, each in attributes["properties"].items()))
    yield from ("## Settings of the extension", "")
    settings = contributes["configuration"]["properties"]
    yield from table(("setting", "type", "default", "says"), (_row(name, each) for name, each in settings.items()))
    yield from ("## Commands of the extension", "")
    shown = ((f"{each['category']}: {each['title']}", each["command"]) for each in contributes["commands"])
    yield from table(("command", "id"), ((title, code(name)) for title, name in shown))


def _needed(attributes: dict[str, Any]) -> str:
    """Which attributes must be there, as words."""
    names = [code(name) for each in attributes.get("anyOf", []) for name in each["required"]]
    return f"one of {', '.join(names)}" if names else "nothing else"


def _row(name: str, attribute: dict[str, Any]) -> tuple[str, str, str, str]:
    kinds = attribute["type"] if isinstance(attribute["type"], list) else [attribute["type"]]
    default = attribute.get("default")
    shown = "" if default is None else code(default if isinstance(default, str) else json.dumps(default))
    return code(name), " or ".join(kinds), shown, cell(" ".join(_says(attribute)))


def _says(attribute: dict[str, Any]) -> Iterator[str]:
    yield attribute.get("markdownDescription") or attribute["description"]
    choices = zip(attribute.get("enum", ()), attribute.get("enumDescriptions", ()), strict=True)
    yield from (f"`{choice}`: {says}" for choice, says in choices)
