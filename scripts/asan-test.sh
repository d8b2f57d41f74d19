#!/bin/bash
# Runs pytest with the asan build of the extension; the active build stays what it is. Usage: asan-test.sh PYTEST_ARGUMENT...
set -euo pipefail
cd "$(dirname "$0")/.."

library() { "${CXX:-c++}" -print-file-name="$1"; }

python cmake/build.py asan --inactive
# Python itself is not instrumented: the sanitizer must be loaded first, and libstdc++ with it, or it cannot see exceptions.
# Python and torch keep memory until the process ends: no leak check.
env \
  PYHARNESS_BUILD=asan \
  LD_PRELOAD="$(library libasan.so):$(library libubsan.so):$(library libstdc++.so)" \
  ASAN_OPTIONS=detect_leaks=0:abort_on_error=1:handle_segv=0 \
  UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1 \
  python -m pytest -p no:xdist --ignore=tests/ops/test_op_faulty.py "$@" # what faults on purpose, a sanitizer stops
