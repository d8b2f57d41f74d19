#!/bin/bash
# Runs pytest with the tsan build of the engine's module; the active build stays what it is. Usage: tsan-test.sh PYTEST_ARGUMENT...
set -euo pipefail
cd "$(dirname "$0")/.."

library() { "${CXX:-c++}" -print-file-name="$1"; }

python cmake/build.py tsan --inactive
# Python and torch are not instrumented: of their code the sanitizer sees the locks and threads, and no memory of theirs. So
# what is reported is ours; what torch orders by atomics alone would be reported in vain, and is named in the suppressions.
# setarch: the sanitizer's shadow lies at fixed addresses, where a library must not come to lie.
setarch --addr-no-randomize env \
  PYHARNESS_BUILD=tsan \
  LD_PRELOAD="$(library libtsan.so):$(library libstdc++.so)" \
  TSAN_OPTIONS="halt_on_error=1:exitcode=66:second_deadlock_stack=1:suppressions=$PWD/scripts/tsan-suppressions.txt" \
  python -m pytest -p no:xdist "$@"
