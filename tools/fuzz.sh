#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs every fuzzer of a build over its seeds for a while; the first crash fails.
#   tools/fuzz.sh BUILD SECONDS
# What a fuzzer learns stays in BUILD/corpus/NAME; a crashing input is left in BUILD/crashes.
set -euo pipefail
build=$(cd "$1" && pwd)
seconds=$2
cd "$(dirname "$0")/.."

mkdir -p "$build/crashes"
for fuzzer in "$build"/bin/fuzz_*; do
  name=${fuzzer##*/fuzz_}
  learnt=$build/corpus/$name
  mkdir -p "$learnt"
  corpus=("$learnt")
  [[ -d fuzz/corpus/$name ]] && corpus+=("fuzz/corpus/$name")
  log=$build/crashes/$name.log
  if ! "$fuzzer" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
      -artifact_prefix="$build/crashes/$name-" "${corpus[@]}" >"$log" 2>&1; then
    tail -n 60 "$log"
    echo "fuzz: $name failed; the input is named above, the whole log is $log" >&2
    exit 1
  fi
  runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
  echo "fuzz: $name: $runs inputs in $seconds s, no crash"
done
