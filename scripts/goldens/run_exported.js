// node run_exported.js FOLDER MODELS
// Runs what export_networks.py wrote into MODELS in ONNX Runtime and adds NAME.outI.bin. FOLDER holds node_modules.
'use strict';
const fs = require('fs');
const path = require('path');

const arrays = {float32: Float32Array, int64: BigInt64Array};

async function main([folder, models]) {
  const ort = require(path.resolve(folder, 'node_modules/onnxruntime-node'));
  for (const file of fs.readdirSync(models).filter((name) => name.endsWith('.onnx')).sort()) {
    const name = path.join(models, path.basename(file, '.onnx'));
    const session = await ort.InferenceSession.create(`${name}.onnx`, {intraOpNumThreads: 1});
    const feed = {};
    session.inputMetadata.forEach(({name: input, type, shape}, i) => {
      const bytes = fs.readFileSync(`${name}.in${i}.bin`);
      feed[input] = new ort.Tensor(type, new arrays[type](new Uint8Array(bytes).buffer), shape);
    });
    const result = await session.run(feed);
    session.outputNames.forEach((output, i) => {
      const {data} = result[output];
      fs.writeFileSync(`${name}.out${i}.bin`, Buffer.from(data.buffer, data.byteOffset, data.byteLength));
    });
    console.log(`exported ${file}: ${session.outputNames.length} outputs`);
  }
}

main(process.argv.slice(2)).catch((error) => {
  console.error(error.message);
  process.exit(1);
});
