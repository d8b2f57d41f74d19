"""The protocol's published JSON schema, held against every message: also a property that it does not know is wrong."""

import copy
import functools
import json
from importlib.util import find_spec
from pathlib import Path

from jsonschema import Draft202012Validator

INTEGER = {"type": "integer"}


def _object(properties, *required):
    return {"type": "object", "properties": properties, "required": list(required)}


def _derived(base, properties, *required):
    return {"allOf": [{"$ref": f"#/definitions/{base}"}, _object(properties, *required)]}


OPEN = {"LaunchRequestArguments", "AttachRequestArguments", "RestartArguments", "Message"}
"""Objects that the protocol leaves to each adapter."""
REFERENCES = {"valueLocationReference": INTEGER, "declarationLocationReference": INTEGER}
LATER = {
    "Capabilities": {"supportsDataBreakpointBytes": {"type": "boolean"}, "supportsANSIStyling": {"type": "boolean"}},
    "DataBreakpointInfoArguments": {"bytes": INTEGER, "asAddress": {"type": "boolean"}},
    "EvaluateArguments": {"source": {"$ref": "#/definitions/Source"}, "line": INTEGER},
    "EvaluateResponse": REFERENCES,
    "SetExpressionResponse": REFERENCES,
    "SetVariableResponse": REFERENCES,
    "Variable": REFERENCES,
}
"""What the protocol got after the schema that debugpy carries (1.65 to 1.70), as far as it is used here."""
LOCATIONS = {
    "LocationsRequest": _derived("Request", {"arguments": {"$ref": "#/definitions/LocationsArguments"}}, "arguments"),
    "LocationsArguments": _object({"locationReference": INTEGER}, "locationReference"),
    "LocationsResponse": _derived("Response", {"body": {"$ref": "#/definitions/LocationsBody"}}),
    "LocationsBody": _object(
        {"source": {"$ref": "#/definitions/Source"}}
        | dict.fromkeys(("line", "column", "endLine", "endColumn"), INTEGER),
        "source",
        "line",
    ),
}
"""The request ``locations``, which the protocol has since 1.68."""


def _published():
    package = Path(find_spec("debugpy").origin).parent
    return next(package.rglob("_debug_adapter/debugProtocol.json"))


@functools.cache
def _schema():
    schema = json.loads(_published().read_text())
    definitions = schema["definitions"] | LOCATIONS
    bases = {part.get("$ref", "").rpartition("/")[2] for each in definitions.values() for part in each.get("allOf", ())}
    restarted = definitions["RestartArguments"]["properties"]["arguments"]
    restarted["anyOf"] = restarted.pop("oneOf")  # of objects without required properties both always hold
    for name, more in LATER.items():
        _properties(definitions[name]).update(more)
    for name, definition in definitions.items():
        if name not in OPEN | bases:
            _close(definition)
    return {"definitions": definitions}


def _properties(definition):
    if "allOf" in definition:  # a response: those of its body
        return definition["allOf"][1]["properties"]["body"]["properties"]
    return definition["properties"]


def _close(definition):
    """Allow no property that the definition does not name, in it and in what it holds inline."""
    if "allOf" in definition or "properties" in definition:
        definition["unevaluatedProperties"] = False
    parts = [part for each in (definition, *definition.get("allOf", ())) for part in each.get("properties", {}).items()]
    for _, part in parts:
        for inner in (part, part.get("items", {})):
            if "properties" in inner:
                _close(inner)


@functools.cache
def _validator(definition):
    schema = copy.copy(_schema())
    schema["$ref"] = f"#/definitions/{definition}"
    return Draft202012Validator(schema)


def definition_of(message):
    """The name of what the schema calls a message of this kind."""
    kind = message["type"]
    if kind == "response" and not message["success"]:
        return "ErrorResponse"
    word = message["event"] if kind == "event" else message["command"]
    return f"{word[0].upper()}{word[1:]}{kind.capitalize()}"


def faults(message):
    """What is wrong with a message, a line each."""
    kind = message.get("type")
    if kind not in {"request", "response", "event"}:
        return [f"no type of message: {kind!r}"]
    name = definition_of(message)
    if name not in _schema()["definitions"]:
        return [f"the protocol has no {name}"]
    return [f"{name}{error.json_path[1:]}: {error.message}" for error in _validator(name).iter_errors(message)]


def requests():
    """Each request of the protocol: its command and the names of its arguments."""
    definitions = _schema()["definitions"]
    for name in definitions:
        word = name.removesuffix("Request")
        if word not in {name, ""}:
            arguments = definitions.get(f"{name}Arguments") or definitions.get(f"{word}Arguments") or {}
            yield f"{word[0].lower()}{word[1:]}", set(arguments.get("properties", ()))
