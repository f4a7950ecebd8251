#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes every variant of every family small, and runs each on the engines that are here: OpenCV, which knows all but
# transformers, and ONNX Runtime, which knows all, in the folder that ASSAY_ORT names. Their answers agree.
#   run_small_models.sh PYTHON make_small_models
set -euo pipefail
here=$(dirname "$0")
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
python=$1
shift
"$@" "$folder/models" >"$folder/list"
mapfile -t for_opencv < <(grep -v -E '^(bert|vit) |mixed-tokens' "$folder/list" | cut -d' ' -f2)
OPENCV_LOG_LEVEL=SILENT "$python" "$here/run_opencv.py" "${for_opencv[@]}"
if [[ ! -d "${ASSAY_ORT:-}/node_modules/onnxruntime-node" ]]; then
  echo "skipped: there is no onnxruntime-node in '${ASSAY_ORT:-}', so transformers did not run"
  exit 77
fi
node "$here/run_onnxruntime.mjs" "$ASSAY_ORT" "$folder"/models/*.onnx
