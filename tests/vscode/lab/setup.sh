#!/bin/bash
# Installs the lab (a headless VS Code, a browser and DAP test tools, pinned in package.json) into DIR; quick when it is there.
# usage: setup.sh [DIR]      DIR: $VSCODE_LAB, or .vscode-lab in the repository
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
dir=${1:-${VSCODE_LAB:-$here/../../../.vscode-lab}}
wanted=$(cat "$here/setup.sh" "$here/package.json" | sha256sum | cut -d ' ' -f 1)

system_packages() { # Installs what is missing, only as root with apt-get; otherwise prints the line to run.
  local missing=()
  need() { local package=$1; shift; "$@" >/dev/null 2>&1 || missing+=("$package"); }
  need chromium command -v chromium
  need fonts-dejavu-core test -d /usr/share/fonts/truetype/dejavu
  need ripgrep command -v rg
  need libkrb5-dev test -e /usr/include/gssapi/gssapi.h
  need g++ command -v g++
  need make command -v make
  need python3 command -v python3
  need nodejs command -v node
  need npm command -v npm
  [ "${#missing[@]}" = 0 ] && return
  if command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
  else
    echo "Missing: ${missing[*]}. Install them, then run this again. On Debian or Ubuntu:" >&2
    echo "  sudo apt-get install ${missing[*]}" >&2
    return 1
  fi
}

node_is_new_enough() {
  node -e 'process.exit(Number(process.versions.node.split(".")[0]) < 20 ? 1 : 0)' || {
    echo "Node.js $(node --version) is too old for the workbench: install Node.js 20 or newer." >&2
    return 1
  }
}

workbench() { # code-server's npm package installs its parts by scripts that want Yarn or a download; do it by hand.
  local code=node_modules/code-server/lib/vscode
  cp "$here/package.json" .
  npm install --silent --no-audit --no-fund --ignore-scripts
  npm_config_yes=true npm rebuild --silent argon2
  (
    cd "$code"
    npm install --silent --no-audit --no-fund --omit=dev --ignore-scripts
    mkdir -p node_modules/@vscode/ripgrep/bin && ln -sf "$(command -v rg)" node_modules/@vscode/ripgrep/bin/rg
    npm_config_yes=true npm rebuild --silent node-pty @vscode/spdlog native-watchdog @parcel/watcher kerberos @vscode/deviceid
    ln -sfn node_modules node_modules.asar
    ln -sf code-linux.sh bin/remote-cli/code-server
    ln -sf browser-linux.sh bin/helpers/browser.sh
    cd extensions && npm install --silent --no-audit --no-fund --omit=dev --ignore-scripts
  )
}

stand_ins() { # The debug types and the driver, packed as any extension is.
  for extension in debugpy-type cppdbg-type driver; do
    (cd "$here/$extension" && "$dir/node_modules/.bin/vsce" package --no-dependencies --allow-missing-repository --skip-license \
      -o "$dir/$extension.vsix" >/dev/null)
  done
}

mkdir -p "$dir"
dir=$(cd "$dir" && pwd)
exec 9>"$dir/lock"
flock 9 # two callers at once: the second waits, and finds it done
system_packages
node_is_new_enough
cd "$dir"
if [ "$(cat installed 2>/dev/null)" != "$wanted" ]; then
  rm -f installed
  workbench
  node node_modules/code-server/out/node/entry.js --version
  echo "$wanted" >installed
fi
stand_ins
