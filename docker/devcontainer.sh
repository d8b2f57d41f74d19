#!/bin/bash
# Makes a clone ready in its devcontainer: the image's environment under the name that .vscode/ and the docs use, and a debug
# build. A .venv of the host's cannot run here, and is left alone: then open the clone in a volume of the container's.
set -euo pipefail
cd "$(dirname "$0")/.."

if [ ! -e .venv ]; then
  ln -sfn "$VENV" .venv
elif ! .venv/bin/python -c '' 2>/dev/null; then
  echo ".venv was made outside of this container and does not run in it. Remove it, or use 'Clone Repository in Container Volume'." >&2
  exit 1
fi
make debug-build
echo "Ready: open examples/transformer.py and press F5, or run 'make demo'."
