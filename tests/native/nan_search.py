"""A search around a function that makes a bad value, and where that was."""

import nan_sources
from nan_sources import line_of

import pyharness


def found(run, **options):
    """The finding of a search around ``run``, which goes on to its end."""
    findings = []
    with pyharness.find_nan(action=findings.append, **options) as search:
        run()
    assert search.finding is (findings[0] if findings else None)
    assert len(findings) <= 1
    return search.finding


def at(name):
    return nan_sources.__file__, line_of(name)


def origin(finding):
    return finding.origin.file, finding.origin.line
