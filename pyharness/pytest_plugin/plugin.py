"""What pytest loads: the options; nothing else is imported before one of them asks for it."""

from __future__ import annotations

import os
import sys
from contextlib import nullcontext
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from pyharness.model.results.trace import Trace
    from pyharness.model.results.verdict import Verdict
    from pyharness.pytest_plugin.stepping import TestStop

_MARK = (
    'pyharness(timeout=SECONDS, nan="fail", max_new_ops=COUNT): with --pyharness, how long this test may take, 0 for'
    " ever; that it fails where the first NaN or infinity is made; and where it makes more calls of ops than are"
    " written down for it"
)
_WORKER = "PYTEST_XDIST_WORKER"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Options, and the same as keys of pytest's configuration file."""
    group = parser.getgroup("pyharness", "native crashes and hangs as failed tests (pyharness)")
    group.addoption(
        "--pyharness",
        action="store_true",
        help="a native crash is a failed test with a report of both languages, and the tests behind it run",
    )
    group.addoption(
        "--pyharness-timeout",
        type=float,
        metavar="SECONDS",
        help="a test that takes longer has failed, also where native code hangs: all threads, and who waits for what",
    )
    group.addoption("--pyharness-report", metavar="DIR", help="keep the reports there, as text, JSON and a page")
    group.addoption(
        "--pyharness-sanitizer",
        choices=("asan", "ubsan", "tsan"),
        help="run the tests under the sanitizer that the extension was built for: what it finds is a failed test",
    )
    group.addoption("--pyharness-runtime", metavar="FILE", help="the sanitizer's runtime, such as libasan.so.8")
    group.addoption(
        "--pyharness-update-ops",
        action="store_true",
        help="write down what ops the tests with max_new_ops run, in __ops__ beside their files",
    )
    parser.addini("pyharness", "as --pyharness", type="bool", default=False)
    parser.addini("pyharness_timeout", "as --pyharness-timeout", default="0")


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> Generator[None, object, object]:
    """Begin before output is captured, and before the user's code is imported."""
    if _is_wanted(early_config) and not _is_worker():
        from pyharness.pytest_plugin.beginning import begin

        options = early_config.known_args_namespace
        if options.pyharness_sanitizer:
            from pyharness.pytest_plugin.sanitizing import begin_sanitized

            begin_sanitized(options.pyharness_sanitizer, options.pyharness_runtime, early_config.rootpath)
        begin(early_config)
    return (yield)


def pytest_configure(config: pytest.Config) -> None:
    """Tell pytest of the marker; a worker of xdist begins here, where it has heard from its controller."""
    config.addinivalue_line("markers", _MARK)
    if _is_wanted(config) and hasattr(config, "workerinput"):
        from pyharness.pytest_plugin.beginning import begin_worker

        begin_worker(config)


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, object, object]:
    """Look for what a test asks by ``ph_nan`` and ``ph_overwritten``: around its call, so that it fails once."""
    wanted = {"ph_nan", "ph_overwritten"}.intersection(pyfuncitem.fixturenames)
    if not wanted:
        return (yield)
    import pyharness
    from pyharness.pytest_plugin.checks import fails_where_overwritten

    with (
        fails_where_overwritten() if "ph_overwritten" in wanted else nullcontext(),
        pyharness.find_nan() if "ph_nan" in wanted else nullcontext(),
    ):
        return (yield)


@pytest.fixture
def ph_nan() -> None:
    """The test fails where the first NaN or infinity is made, with its line, module and node."""


@pytest.fixture
def ph_overwritten() -> None:
    """The test fails where a tensor was written into after autograd saved it; it says who saved it, and who wrote."""


@pytest.fixture
def ph_record() -> Callable[[Callable[[], object]], Trace]:
    """A function of (function) to the trace of what that runs: its ops and autograd nodes."""
    from pyharness.pytest_plugin.checks import record

    return record


@pytest.fixture
def ph_verify() -> Callable[..., Verdict]:
    """A function of (original, transform, inputs): the test fails where the transform changes what is computed."""
    from pyharness.pytest_plugin.checks import verify

    return verify


@pytest.fixture
def ph_step() -> Callable[..., TestStop]:
    """A function of (place, function, steps): the stop that a debugger has seen there, in this very process."""
    from pyharness.pytest_plugin.stepping import stop_at

    return stop_at


def _is_worker() -> bool:
    """A worker of xdist: the variable alone is also seen by a pytest that a test in a worker starts."""
    return _WORKER in os.environ and sys.argv[:1] == ["-c"]


def _is_wanted(config: pytest.Config) -> bool:
    options = config.known_args_namespace if not hasattr(config, "workerinput") else config.option
    asks = options.pyharness or options.pyharness_timeout or options.pyharness_report or options.pyharness_sanitizer
    asks = asks or options.pyharness_update_ops
    return bool(asks or config.getini("pyharness"))
