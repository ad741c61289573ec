// Outside runtimes on whole sets of samples: ONNX Runtime for .onnx, TFLite with XNNPACK for .tflite.
'use strict';
const fs = require('fs');
const path = require('path');
const {loadRuntime} = require('./tfjs_tflite');

/// Folder: where node_modules is. Resolves to run(modelFile, samples), where samples is a Float32Array of
/// whole inputs one after the other; that resolves to a Float32Array of the first outputs.
async function loadRuntimes(folder) {
  const ort = require(path.resolve(folder, 'node_modules/onnxruntime-node'));
  const tflite = await loadRuntime(folder);

  async function runOnnx(file, samples) {
    const session = await ort.InferenceSession.create(file, {intraOpNumThreads: 1});
    const name = session.inputNames[0];
    const shape = session.inputMetadata[0].shape.map((d) => typeof d === 'number' && d > 0 ? d : 1);
    const size = shape.reduce((a, b) => a * b, 1);
    const out = [];
    for (let at = 0; at < samples.length; at += size) {
      const feed = {[name]: new ort.Tensor('float32', samples.slice(at, at + size), shape)};
      const result = await session.run(feed);
      out.push(Float32Array.from(result[session.outputNames[0]].data));
    }
    return concat(out);
  }

  function runTflite(file, samples) {
    const runner = tflite(fs.readFileSync(file));
    const size = runner.inputs[0].bytes / 4;
    const out = [];
    for (let at = 0; at < samples.length; at += size) {
      const bytes = runner.run([new Uint8Array(samples.slice(at, at + size).buffer)])[0];
      out.push(new Float32Array(bytes.slice().buffer));
    }
    return concat(out);
  }

  function concat(parts) {
    const all = new Float32Array(parts.reduce((n, p) => n + p.length, 0));
    let at = 0;
    for (const part of parts) all.set(part, at), at += part.length;
    return all;
  }
  return (file, samples) => file.endsWith('.onnx') ? runOnnx(file, samples) : runTflite(file, samples);
}

module.exports = {loadRuntimes};
