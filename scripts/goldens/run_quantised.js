// node run_quantised.js FOLDER DEPUTY GOLDENS
// Quantises the networks of workloads/trained on seeded samples, which it writes, runs the models in outside runtimes, and
// writes outputs and hashes into GOLDENS/quantised. FOLDER holds node_modules.
'use strict';
const fs = require('fs');
const os = require('os');
const path = require('path');
const {execFileSync} = require('child_process');
const npy = require('./npy');
const {loadRuntimes} = require('./outside');

/// FNV-1a, 64 bits.
function hash(bytes) {
  let h = 0xcbf29ce484222325n;
  for (const byte of bytes) h = ((h ^ BigInt(byte)) * 0x100000001b3n) & 0xffffffffffffffffn;
  return h.toString(16).padStart(16, '0');
}
const bytesOf = (array) => Buffer.from(array.buffer, array.byteOffset, array.byteLength);

/// Smooth curves of seeded frequencies: neither network was made for them, but their values go everywhere.
function makeSamples(count, size, seed) {
  let state = seed;
  const random = () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 2 ** 32;
  const out = new Float32Array(count * size);
  for (let n = 0; n < count; n++) {
    const a = 0.02 + random() * 0.3, b = random() * 6, c = 0.3 + random();
    for (let i = 0; i < size; i++) out[n * size + i] = c * Math.abs(Math.sin(a * i + b)) - 0.1;
  }
  return out;
}

async function main([folder, deputy, goldens]) {
  const run = await loadRuntimes(folder);
  const target = path.join(goldens, 'quantised');
  fs.mkdirSync(target, {recursive: true});
  const work = fs.mkdtempSync(path.join(os.tmpdir(), 'quantised-'));
  const all = [];
  for (const [name, shape, budget] of [['digits', [12, 1, 28, 28], 25], ['beats_ae', [12, 256], 1000]]) {
    const size = shape.slice(1).reduce((a, b) => a * b, 1);
    const samples = makeSamples(shape[0], size, 5);
    const calib = path.join(target, `${name}_x.npy`);
    npy.write(calib, '<f4', shape, bytesOf(samples));
    for (const [format, mixed] of [['tflite', false], ['onnx', false], ['tflite', true], ['onnx', true]]) {
      const label = `${name}${mixed ? '_mixed' : ''}`, model = path.join(work, `${label}.${format}`);
      const options = ['--method', 'minmax', '--equalise', 'off', ...(mixed ? ['--mixed', '--budget', `bytes=${budget}`] : [])];
      const report = JSON.parse(execFileSync(deputy, ['quantize', `workloads/trained/${name}.onnx`, '--dim', 'batch=1', '--calib', calib, '-o', model, '--json', ...options]));
      const outputs = await run(model, samples);
      npy.write(path.join(target, `${label}_${format}.npy`), '<f4', [shape[0], outputs.length / shape[0]], bytesOf(outputs));
      const bytes = fs.readFileSync(model);
      all.push({network: name, format, options, step: report.layers.at(-1).scale, model_bytes: bytes.length, model_hash: hash(bytes)});
      console.log(`quantised ${label}.${format}: ${shape[0]} cases`);
    }
  }
  fs.rmSync(work, {recursive: true});
  fs.writeFileSync(path.join(target, 'golden.json'), JSON.stringify(
      {runtimes: {tflite: '@tensorflow/tfjs-tflite 0.0.1-alpha.10', onnx: 'onnxruntime-node 1.30.0'}, models: all}, null, 1) + '\n');
}

main(process.argv.slice(2)).catch((error) => {
  console.error(error.message);
  process.exit(1);
});
