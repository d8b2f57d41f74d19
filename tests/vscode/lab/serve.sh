#!/bin/bash
# Serves the workbench on loopback over WORKSPACE, with the stand-in types, the driver and further extensions, until it is ended.
# It prints "HTTP server listening on URL" once it answers. What the run keeps (settings, logs, sockets) is in LAB_RUN.
# usage: LAB_PYTHON=.venv/bin/python serve.sh WORKSPACE [VSIX...]
#   VSCODE_LAB  where setup.sh installed it      LAB_RUN  an empty folder; a new temporary one by default
#   LAB_PORT    0, the default: any free port
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
dir=$(cd "${VSCODE_LAB:-$here/../../../.vscode-lab}" && pwd)
workspace=$(cd "$1" && pwd)
shift
run=${LAB_RUN:-$(mktemp -d)}
python=${LAB_PYTHON:-python3}
[[ $python == */* ]] && python=$(cd "$(dirname "$python")" && pwd)/$(basename "$python")
export XDG_CONFIG_HOME=$run/xdg XDG_DATA_HOME=$run/xdg CS_DISABLE_GETTING_STARTED_OVERRIDE=1
export LAB_DIR=$dir LAB_PYTHON=$python LAB_SOCK=$run/driver.sock LAB_DAP_LOG=$run/dap.jsonl
server=(node "$dir/node_modules/code-server/out/node/entry.js" --user-data-dir "$run/data" --extensions-dir "$run/extensions")

installs=()
for vsix in "$dir"/{debugpy-type,cppdbg-type,driver}.vsix "$@"; do installs+=(--install-extension "$vsix"); done
"${server[@]}" --force "${installs[@]}" >"$run/install.log" 2>&1 || { cat "$run/install.log" >&2; exit 1; }

mkdir -p "$run/data/User"
[ -e "$run/data/User/settings.json" ] || cp "$here/settings.json" "$run/data/User/settings.json"
exec "${server[@]}" --auth none --bind-addr "127.0.0.1:${LAB_PORT:-0}" --disable-telemetry --disable-update-check \
  --disable-workspace-trust --disable-getting-started-override -- "$workspace"
