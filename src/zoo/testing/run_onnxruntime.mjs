// SPDX-License-Identifier: Apache-2.0
// Runs models with ONNX Runtime, and looks whether what comes out is alive.
//   node run_onnxruntime.mjs FOLDER FILE...
// FOLDER is where `npm install --ignore-scripts onnxruntime-node` was called. Prints a line per
// model; ends with 1 when one of them does not run, gives the same for other input, or another
// answer than the one that run_opencv.py left beside it.
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';

const [folder, ...files] = process.argv.slice(2);
const ort = createRequire(resolve(folder, 'x.js'))('onnxruntime-node');

/** Even numbers between -1.7 and 1.7, or words of a small dictionary; the same for a seed. */
function input({ type, shape }, seed) {
  let state = seed;
  const next = () => (state = (state * 1103515245 + 12345) % 2147483648) / 2147483648;
  const count = shape.reduce((a, b) => a * b, 1);
  if (type === 'int64') {
    return new ort.Tensor('int64', BigInt64Array.from({ length: count }, () => BigInt(Math.floor(next() * 1000))), shape);
  }
  return new ort.Tensor('float32', Float32Array.from({ length: count }, () => (next() * 2 - 1) * 1.7), shape);
}

/** All models have one input and one output. */
async function answer(session, tensor) {
  const results = await session.run({ [session.inputNames[0]]: tensor });
  return Array.from(results[session.outputNames[0]].data);
}

const floats = (file) => new Float32Array(new Uint8Array(readFileSync(file)).buffer);
const largest = (values) => values.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
const differs = (a, b, share) => {
  const most = share * largest(a);
  return a.some((value, at) => Math.abs(value - b[at]) > most);
};

async function agrees(session, file) {
  if (!existsSync(`${file}.answer`)) return true;
  const same = new ort.Tensor('float32', floats(`${file}.input`), session.inputMetadata[0].shape);
  return !differs(await answer(session, same), floats(`${file}.answer`), 1e-3);
}

async function trouble(file) {
  const session = await ort.InferenceSession.create(file);
  const first = await answer(session, input(session.inputMetadata[0], 1));
  const second = await answer(session, input(session.inputMetadata[0], 2));
  if (!first.every(Number.isFinite)) return 'gives numbers that are not finite';
  if (!differs(first, first.map(() => first[0]), 1e-4)) return 'gives the same number everywhere';
  if (!differs(first, second, 1e-4)) return 'gives the same for other input';
  if (!(await agrees(session, file))) return 'gives another answer than OpenCV';
  return '';
}

let wrong = files.length === 0 ? 1 : 0;
for (const file of files) {
  const why = await trouble(file).catch((error) => `ONNX Runtime refuses it: ${error.message}`);
  console.log(`${file}: ${why || 'runs'}`);
  if (why) wrong = 1;
}
process.exit(wrong);
