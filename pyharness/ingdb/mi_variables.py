"""MI commands for variables: scopes of a frame, children of a variable, setting and evaluating one."""

from __future__ import annotations
