"""How what goes into an op or a node is called, and what comes out: in expressions at a stop there."""

from __future__ import annotations

import re

NAME = r"(?:in\d+|out\d*)"
MENTION = re.compile(rf"\b{NAME}\b")
