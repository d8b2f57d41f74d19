#!/bin/sh
# The main job on the transformer example: generated line, kernel, next generated line; then the same by a plain gdb script.
set -eu
cd "$(dirname "$0")/.."

say() { printf '\n\033[1m%s\033[0m\n' "$*"; }
[ -t 1 ] || say() { printf '\n%s\n' "$*"; }

say '$ pyharness step examples/transformer.py --at fx:blocks.0.norm --into-native --print input --stack --out --stack -- --steps 2'
pyharness step examples/transformer.py --at fx:blocks.0.norm --into-native --print input --stack --out --stack -- --steps 2

say '$ gdb -q -nx -batch -x scripts/step_into_kernel.gdb'
gdb -q -nx -batch -x scripts/step_into_kernel.gdb
