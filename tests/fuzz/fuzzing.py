"""What fuzz tests share: how much is made up (200 examples of each kind in `make test`, 10^5 in `make fuzz-test`)."""

import os

from hypothesis import HealthCheck, given, settings

from pyharness.model.errors import HarnessError

EXAMPLES = int(os.environ.get("PYHARNESS_EXAMPLES", "200"))
# The settings go to each test by name: a profile that is loaded after a test was decorated does not reach it.
AMOUNT = settings(
    max_examples=EXAMPLES,
    deadline=None if EXAMPLES < 1000 else 1000,  # milliseconds; a busy machine's say nothing
    suppress_health_check=list(HealthCheck),
    database=None,
)


def fuzzed(*strategies, **named):
    """A test of made-up arguments, ``EXAMPLES`` times."""
    return lambda test: AMOUNT(given(*strategies, **named)(test))


def understood(function, *arguments):
    """Whether ``function`` takes its arguments or refuses them with a message; whatever else it raises comes out."""
    try:
        function(*arguments)
    except HarnessError as error:
        return bool(error.message)
    return True
