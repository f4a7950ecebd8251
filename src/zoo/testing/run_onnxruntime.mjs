// SPDX-License-Identifier: Apache-2.0
// Runs models with ONNX Runtime, and looks whether what comes out is alive.
//   node run_onnxruntime.mjs FOLDER FILE...
// FOLDER is where `npm install --ignore-scripts onnxruntime-node` was called. Prints a line per
// model; ends with 1 when one of them does not run, or gives the same for other input.
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

async function answer(session, seed) {
  const feeds = {};
  for (const meta of session.inputMetadata) feeds[meta.name] = input(meta, seed);
  const results = await session.run(feeds);
  return Array.from(results[session.outputNames[0]].data);
}

async function trouble(file) {
  const session = await ort.InferenceSession.create(file);
  const first = await answer(session, 1);
  const second = await answer(session, 2);
  if (!first.every(Number.isFinite)) return 'gives numbers that are not finite';
  const largest = first.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  const differs = (others) => others.some((value, at) => Math.abs(value - first[at]) > 1e-4 * largest);
  if (!differs(first.map(() => first[0]))) return 'gives the same number everywhere';
  if (!differs(second)) return 'gives the same for other input';
  return '';
}

let wrong = files.length === 0 ? 1 : 0;
for (const file of files) {
  const why = await trouble(file).catch((error) => `ONNX Runtime refuses it: ${error.message}`);
  console.log(`${file}: ${why || 'runs'}`);
  if (why) wrong = 1;
}
process.exit(wrong);
