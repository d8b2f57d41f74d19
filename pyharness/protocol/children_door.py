"""The environment in which every Python that is started calls in at a debugger's door (``channel.Children``)."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

from pyharness.model.codec import encode

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyharness.protocol.channel import Children

VARIABLE = "PYHARNESS_CHILDREN"
"""Holds a ``Children`` for every process that is started from here on."""
SITE = str(Path(__file__).parents[1] / "debuggee" / "site")
"""The folder of the ``sitecustomize`` that each Python runs first."""
_PATH = "PYTHONPATH"


def added(door: Children, environment: Mapping[str, str]) -> dict[str, str]:
    """The variables that an environment needs for that."""
    return {VARIABLE: json.dumps(encode(door)), _PATH: os.pathsep.join([SITE, *_others(environment)])}


def take_from(environment: dict[str, str] | os._Environ[str]) -> None:
    """Have an environment as it was before."""
    environment.pop(VARIABLE, None)
    if others := _others(environment):
        environment[_PATH] = os.pathsep.join(others)
    else:
        environment.pop(_PATH, None)


def _others(environment: Mapping[str, str]) -> list[str]:
    return [path for path in environment.get(_PATH, "").split(os.pathsep) if path and path != SITE]
