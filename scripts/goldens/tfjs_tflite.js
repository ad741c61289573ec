// TFLite with XNNPACK, as WebAssembly, from npm's @tensorflow/tfjs-tflite. The package is made for
// browsers; its Emscripten module runs in node once it is handed the .wasm bytes.
'use strict';
const fs = require('fs');
const path = require('path');
const vm = require('vm');

/// Folder: where node_modules is. Resolves to open(modelBytes), which gives a runner:
///   inputs, outputs: [{index, name, type, bytes}], index being the tensor's in the file;
///   run(buffers) takes one Uint8Array an input in graph order and returns one an output. Throws
///   with the runtime's message when it refuses the model or fails to run.
///   builtinOps(): after a run, the operator types that XNNPACK left to TFLite's own kernels.
async function loadRuntime(folder) {
  const wasm =
      path.join(folder, 'node_modules/@tensorflow/tfjs-tflite/wasm/tflite_web_api_cc_simd');
  const source = fs.readFileSync(wasm + '.js', 'utf8') + '\n;tflite_web_api_ModuleFactory';
  const module = await vm.runInThisContext(source, {filename: wasm + '.js'})(
      {wasmBinary: fs.readFileSync(wasm + '.wasm'), print: () => {}, printErr: () => {}});

  function list(vector) {
    const items = [];
    for (let i = 0; i < vector.size(); i++) items.push(vector.get(i));
    return items;
  }

  return function open(modelBytes) {
    const at = module._malloc(modelBytes.length);
    module.HEAPU8.set(modelBytes, at);
    const made = module.TFLiteWebModelRunner.CreateFromBufferAndOptions(
        at, modelBytes.length,
        {numThreads: 1, enableProfiling: true, maxProfilingBufferEntries: 4096});
    if (!made.ok()) throw new Error('refused: ' + made.errorMessage());
    const runner = made.value();
    const describe = (t) => ({index: t.id, name: t.name, type: t.dataType, bytes: t.data().byteLength});
    return {
      inputs: list(runner.GetInputs()).map(describe),
      outputs: list(runner.GetOutputs()).map(describe),
      builtinOps() {
        const summary = runner.GetProfilingSummary().split('Summary by node type')[1];
        const rows = summary.split('Timings')[0].matchAll(/^\s+([A-Za-z_0-9]+)\s+\d+\s/gm);
        return [...rows].map((row) => row[1]).filter((t) => t !== 'TfLiteXNNPackDelegate').sort();
      },
      run(buffers) {
        list(runner.GetInputs()).forEach((t, i) => {
          const data = t.data();
          if (data.byteLength !== buffers[i].length) {
            throw new Error(`input ${i} has ${data.byteLength} bytes, ${buffers[i].length} given`);
          }
          new Uint8Array(data.buffer, data.byteOffset, data.byteLength).set(buffers[i]);
        });
        if (!runner.Infer()) throw new Error('inference failed');
        return list(runner.GetOutputs()).map((t) => {
          const data = t.data();
          return new Uint8Array(data.buffer, data.byteOffset, data.byteLength).slice();
        });
      },
    };
  };
}

module.exports = {loadRuntime};
