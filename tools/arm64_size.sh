#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Strips a copy of the arm64 agent beside it, and fails when that is too large or needs what a small board
# should not have.
#   tools/arm64_size.sh PROGRAM
set -euo pipefail
export LC_ALL=C
most=6000000
stripped=${1:?usage: tools/arm64_size.sh PROGRAM}.stripped
aarch64-linux-gnu-strip -o "$stripped" "$1"
size=$(stat -c %s "$stripped")
libraries=$(aarch64-linux-gnu-readelf -d "$stripped" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
echo "$stripped: $size bytes; needs ${libraries//$'\n'/ }"
if ((size > most)); then
  echo "$stripped is larger than $most bytes" >&2
  exit 1
fi
if grep -E 'opencv|xgboost|protobuf|libpq' <<<"$libraries"; then
  echo "$stripped needs a library that is too much for a board" >&2
  exit 1
fi
