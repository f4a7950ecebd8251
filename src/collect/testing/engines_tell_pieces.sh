#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# OpenCV and ONNX Runtime tell what the operators of a model take, and these are found in the model.
#   engines_tell_pieces.sh FOLDER_OF_PROGRAMS RUNNERS
set -euo pipefail
if [[ ! -d "${ASSAY_ORT:-}/node_modules/onnxruntime-node" ]]; then
  echo "skipped: there is no onnxruntime-node in '${ASSAY_ORT:-}'"
  exit 77
fi
export ASSAY_RUNNERS=$2
assay=$1/assay
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
cd "$folder"
export ASSAY_LOCK=$folder/lock
mkdir models
"$assay" model make mobilenet-v2 --resolution 96 -o models/mobilenet.onnx
"$assay" model make resnet18 --width 0.5 --resolution 96 -o models/resnet.onnx
"$assay" collect --models models --iterations 1 --device-type here --load idle --engine opencv --engine onnxruntime-node -o t.csv
rows=$(grep -c ',ok,,idle,' t.csv)
# In each row convolutions took some time, and the call comes last.
told=$(grep -oE 'conv [0-9.e+ -]+;.*;call [0-9.e+ -]+' t.csv | awk -F';' '{
  convs = 0
  for (i = 1; i < NF; ++i) { n = split($i, word, " "); if (word[1] == "conv" && word[n] > 0) ++convs }
  if (convs > 5) ++good } END { print good + 0 }')
echo "$told of $rows rows have convolutions that took time"
[[ $rows == 4 && $told == 4 ]]
