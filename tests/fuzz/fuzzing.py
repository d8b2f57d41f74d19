"""What fuzz tests share."""

from pyharness.model.errors import HarnessError


def understood(function, *arguments):
    """Whether ``function`` takes its arguments or refuses them with a message; whatever else it raises comes out."""
    try:
        function(*arguments)
    except HarnessError as error:
        return bool(error.message)
    return True
