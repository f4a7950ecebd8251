#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes every variant of every family small, and runs each on the engines that are here: OpenCV, which knows all but
# bert and vit, and ONNX Runtime, which knows all, where ASSAY_ONNXRUNTIME names the folder it was installed in by npm.
# Where both ran, their answers agree.
#   run_small_models.sh make_small_models PYTHON
set -euo pipefail
here=$(dirname "$0")
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
"$1" "$folder/models" >"$folder/list"
mapfile -t for_opencv < <(grep -v -E '^(bert|vit) ' "$folder/list" | cut -d' ' -f2)
OPENCV_LOG_LEVEL=SILENT "$2" "$here/run_opencv.py" "${for_opencv[@]}"
if [[ -n "${ASSAY_ONNXRUNTIME:-}" ]]; then
  node "$here/run_onnxruntime.mjs" "$ASSAY_ONNXRUNTIME" "$folder"/models/*.onnx
fi
