// SPDX-License-Identifier: Apache-2.0
// ONNX Runtime as an engine of Assay, by npm's onnxruntime-node; docs/engines.md has the lines that it speaks.
// It looks for the library in NODE_PATH, in the folder ASSAY_ORT, where it was started, and where npm puts global ones.
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';
import { tmpdir } from 'node:os';
import path from 'node:path';

const PLACES = [
  ...(process.env.NODE_PATH ?? '').split(path.delimiter),
  process.env.ASSAY_ORT && path.join(process.env.ASSAY_ORT, 'node_modules'),
  path.join(process.cwd(), 'node_modules'),
  '/usr/local/lib/node_modules',
  '/usr/lib/node_modules',
].filter(Boolean);

function libraryFolder() {
  const found = PLACES.map((place) => path.join(place, 'onnxruntime-node')).find((folder) => existsSync(folder));
  if (found) return found;
  console.error('onnxruntime-node is not installed; call: npm install --ignore-scripts onnxruntime-node');
  process.exit(4);
}

const require = createRequire(import.meta.url);
const library = libraryFolder();
const ort = require(library);
const version = require(path.join(library, 'package.json')).version;

const say = (answer) => process.stdout.write(`${JSON.stringify(answer)}\n`);
const seconds = () => Number(process.hrtime.bigint()) / 1e9;

// The same numbers for the same seed, in every run: xorshift on 32 bits.
function randomNumbers(seed) {
  let state = (Number(seed) | 0) || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 4294967296;
  };
}

const MAKERS = {
  float32: (n, next) => Float32Array.from({ length: n }, next),
  float64: (n, next) => Float64Array.from({ length: n }, next),
  int64: (n, next) => BigInt64Array.from({ length: n }, () => BigInt(Math.floor(next() * 100))),
  int32: (n, next) => Int32Array.from({ length: n }, () => Math.floor(next() * 100)),
  uint8: (n, next) => Uint8Array.from({ length: n }, () => Math.floor(next() * 256)),
  int8: (n, next) => Int8Array.from({ length: n }, () => Math.floor(next() * 256) - 128),
  bool: (n, next) => Uint8Array.from({ length: n }, () => (next() < 0.5 ? 0 : 1)),
};

let session;
let loaded;
let inputs = [];

function described(metadata) {
  return metadata.map(({ name, type, shape }) => ({ name, type, shape: shape ?? [] }));
}

async function load({ file, threads, shapes, gpu }) {
  session = undefined;
  const options = { executionProviders: [gpu ? 'cuda' : 'cpu'], logSeverityLevel: 3 };
  if (threads) Object.assign(options, { intraOpNumThreads: threads, interOpNumThreads: 1 });
  const begin = seconds();
  session = await ort.InferenceSession.create(file, options);
  loaded = { file, options };
  const took = seconds() - begin;
  inputs = described(session.inputMetadata).map((input) => ({
    ...input,
    shape: shapes?.[input.name] ?? input.shape.map((size) => (Number.isInteger(size) && size >= 0 ? size : 1)),
  }));
  return { seconds: took, inputs, outputs: described(session.outputMetadata), gpu: Boolean(gpu) };
}

function made(seed, file) {
  const next = randomNumbers(seed);
  const feeds = {};
  inputs.forEach(({ name, type, shape }, index) => {
    const count = shape.reduce((product, size) => product * size, 1);
    if (!MAKERS[type]) throw new Error(`inputs of type ${type} cannot be made`);
    let data = MAKERS[type](count, next);
    if (file && index === 0) {
      const bytes = readFileSync(file);
      data = new Float32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4);
      if (data.length !== count) throw new Error(`the input has ${data.length} values instead of ${count}`);
    }
    feeds[name] = new ort.Tensor(type, data, shape);
  });
  return feeds;
}

async function run({ count, seconds: most, seed, input, output }) {
  if (!session) throw new Error('nothing is loaded');
  const feeds = made(seed, input);
  const times = [];
  const end = seconds() + most;
  let results;
  do {
    const begin = seconds();
    results = await session.run(feeds);
    times.push(seconds() - begin);
  } while (times.length < count && seconds() < end);
  if (output) {
    const values = session.outputNames.map((name) => Float32Array.from(results[name].data, Number));
    writeFileSync(output, Buffer.concat(values.map((each) => Buffer.from(each.buffer))));
  }
  return { times };
}

// What each operator takes, by ONNX Runtime's own profile: a file of events, of which those of kernels are wanted.
// The first inference warms up, and is left out; what a loop runs several times counts as often.
function operatorTimes(events, runs) {
  const ending = '_kernel_time';
  const times = new Map();
  for (const { cat, name, dur } of events) {
    if (cat !== 'Node' || !name.endsWith(ending)) continue;
    const key = name.slice(0, -ending.length);
    if (!times.has(key)) times.set(key, []);
    times.get(key).push(dur / 1e6);
  }
  return [...times].map(([name, values]) => {
    const often = Math.max(1, Math.round(values.length / (runs + 1)));
    const warm = values.slice(often).sort((a, b) => a - b);
    return { name, seconds: warm.length ? often * warm[Math.floor(warm.length / 2)] : 0 };
  });
}

async function profile({ count, seconds: most, seed, input }) {
  if (!session) throw new Error('nothing is loaded');
  const feeds = made(seed, input);
  const folder = mkdtempSync(path.join(tmpdir(), 'assay-profile-'));
  try {
    const options = { ...loaded.options, enableProfiling: true, profileFilePrefix: path.join(folder, 'of') };
    const profiled = await ort.InferenceSession.create(loaded.file, options);
    await profiled.run(feeds);
    const end = seconds() + most;
    const times = [];
    do {
      const begin = seconds();
      await profiled.run(feeds);
      times.push(seconds() - begin);
    } while (times.length < count && seconds() < end);
    profiled.endProfiling();
    await profiled.release();
    const events = JSON.parse(readFileSync(path.join(folder, readdirSync(folder)[0]), 'utf8'));
    return { operators: operatorTimes(events, times.length), times };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

say({ engine: 'onnxruntime-node', version });
for await (const line of createInterface({ input: process.stdin })) {
  try {
    const request = JSON.parse(line);
    if (request.do === 'load') say(await load(request));
    else if (request.do === 'run') say(await run(request));
    else if (request.do === 'profile') say(await profile(request));
    else throw new Error(`"${request.do}" is not known`);
  } catch (error) {
    say({ error: String(error.message ?? error) });
  }
}
