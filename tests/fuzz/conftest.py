"""How much is made up: 200 examples of each kind in `make test`, 10^5 in `make fuzz-test`; none may take a second."""

import os

import pytest
from hypothesis import HealthCheck, settings

EXAMPLES = int(os.environ.get("PYHARNESS_EXAMPLES", "200"))
settings.register_profile(
    "fuzz",
    max_examples=EXAMPLES,
    deadline=None if EXAMPLES < 1000 else 1000,  # milliseconds; a busy machine's say nothing
    suppress_health_check=list(HealthCheck),
    database=None,
)


@pytest.fixture(autouse=True, scope="package")
def fuzzed():
    before = settings.get_current_profile_name() if hasattr(settings, "get_current_profile_name") else "busy"
    settings.load_profile("fuzz")
    yield
    settings.load_profile(before)
