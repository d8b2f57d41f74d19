"""Reasons to skip a test: what a machine or a build may lack."""

import os

import pytest

a_plain_build = pytest.mark.skipif(
    os.environ.get("PYHARNESS_BUILD") == "asan",
    reason="the sanitized engine has lines, which a debugger steps through, and a gdb that starts it is sanitized too",
)
