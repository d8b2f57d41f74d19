"""Why a question brought no ranks, where who watches a job must know it apart."""

from __future__ import annotations

from pyharness.model.errors import HarnessError


class GoneError(HarnessError):
    """There is no store, or it has gone: so has the job."""


class NobodyError(HarnessError):
    """There is a store, and no rank of the job: it has not begun, begins anew, or has ended."""


class UnreachableError(NobodyError):
    """Nothing answers where the store is said to be, and nothing refuses to."""


class SilentError(HarnessError):
    """There are ranks, and who answers for them has not shown them."""
