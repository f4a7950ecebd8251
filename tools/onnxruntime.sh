#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs npm's onnxruntime-node, as runners/package-lock.json pins it, into FOLDER; once.
#   tools/onnxruntime.sh FOLDER
# Ends with 77 when npm cannot fetch it: what needs it is then skipped.
set -euo pipefail
runners=$(cd "$(dirname "$0")/../runners" && pwd)
folder=${1:?usage: tools/onnxruntime.sh FOLDER}
mkdir -p "$folder"
cd "$folder"
cmp -s "$runners/package-lock.json" installed && exit 0

cp "$runners/package.json" "$runners/package-lock.json" "$runners/.npmrc" .
if ! npm ci --ignore-scripts --no-audit --no-fund --loglevel=error --fetch-retries=1 --fetch-timeout=60000; then
  echo "onnxruntime: npm cannot fetch onnxruntime-node; what needs it is skipped" >&2
  exit 77
fi
# Two thirds of it are for other systems.
find node_modules/onnxruntime-node/bin -mindepth 2 -maxdepth 2 ! -name linux -exec rm -r {} +
mv package-lock.json installed
