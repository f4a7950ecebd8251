// SPDX-License-Identifier: Apache-2.0
// Splits real models at several places and runs whole and parts by ONNX Runtime: the results must be equal.
//   ASSAY_ORT=FOLDER [ASSAY_DATA=FOLDER] run_parts.js ASSAY
const { execFileSync } = require('child_process');
const fs = require('fs');
const os = require('os');
const path = require('path');

const SKIPPED = 77;
const assay = process.argv[2];
const data = path.join(process.env.ASSAY_DATA || path.join(__dirname, '../../../../shared/data'), 'onnx');
const library = path.join(process.env.ASSAY_ORT || '', 'node_modules/onnxruntime-node');
for (const needed of [data, library]) {
  if (fs.existsSync(needed)) continue;
  console.log(`skipped: there is no ${needed}`);
  process.exit(SKIPPED);
}
const ort = require(library);

const MODELS = ['light_squeezenet', 'light_resnet50', 'ocv_vitTracker', 'ort_maui_mobilenetv2_qdq', 'face_RFB-320',
  'ort_simplified_ssd', 'ocv_gru_bi'];
const OPTIONS = { logSeverityLevel: 3, graphOptimizationLevel: 'basic' };

function input(meta) {
  const dims = meta.shape.map((d) => (typeof d === 'number' && d > 0 ? d : 1));
  const size = dims.reduce((a, b) => a * b, 1);
  if (meta.type === 'int64') return new ort.Tensor('int64', new BigInt64Array(size).fill(1n), dims);
  return new ort.Tensor('float32', Float32Array.from({ length: size }, (_, i) => Math.sin(i * 0.37)), dims);
}

function difference(a, b) {
  let worst = 0;
  for (const name of Object.keys(a)) {
    for (let i = 0; i < a[name].data.length; i++) {
      worst = Math.max(worst, Math.abs(Number(a[name].data[i]) - Number(b[name].data[i])));
    }
  }
  return worst;
}

async function check(model, folder) {
  const file = path.join(data, `${model}.onnx`);
  const whole = await ort.InferenceSession.create(file, OPTIONS);
  const feeds = Object.fromEntries(whole.inputMetadata.map((meta) => [meta.name, input(meta)]));
  const wanted = await whole.run(feeds);
  const listed = execFileSync(assay, ['model', 'split', file, '--json'], { maxBuffer: 1e8 });
  const { cuts } = JSON.parse(listed);
  for (const at of [0, Math.floor(cuts.length / 2), cuts.length - 1]) {
    const { tensor } = cuts[at];
    execFileSync(assay, ['model', 'split', file, '--at', tensor, '-o', folder]);
    const first = await ort.InferenceSession.create(path.join(folder, `${model}-1.onnx`), OPTIONS);
    const second = await ort.InferenceSession.create(path.join(folder, `${model}-2.onnx`), OPTIONS);
    const between = await first.run(feeds);
    const worst = difference(wanted, await second.run({ [tensor]: between[tensor] }));
    console.log(`${model} at ${tensor}: ${worst}`);
    if (!(worst <= 1e-5)) throw new Error(`${model} cut at ${tensor}: results differ by ${worst}`);
  }
}

(async () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'assay-parts-'));
  try {
    for (const model of MODELS) await check(model, folder);
  } catch (error) {
    console.error(String(error));
    process.exitCode = 1;
  } finally {
    fs.rmSync(folder, { recursive: true });
  }
})();
