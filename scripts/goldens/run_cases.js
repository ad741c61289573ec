// node run_cases.js FOLDER MODEL.tflite CASES.npy OUT.npy
// Runs a model with one input and one output once for each entry of CASES' first axis, and writes
// the outputs as [cases, elements]. FOLDER holds node_modules.
'use strict';
const fs = require('fs');
const npy = require('./npy');
const {loadRuntime} = require('./tfjs_tflite');

const DESCR = {
  int8: '|i1',
  uint8: '|u1',
  int32: '<i4',
  float32: '<f4'
};

async function main([folder, model, casesFile, outFile]) {
  const open = await loadRuntime(folder);
  const runner = open(fs.readFileSync(model));
  if (runner.inputs.length !== 1 || runner.outputs.length !== 1) {
    throw new Error(
        `${model}: has ${runner.inputs.length} inputs and ${runner.outputs.length} outputs`);
  }
  const cases = npy.read(casesFile);
  const size = runner.inputs[0].bytes;
  const count = cases.shape[0];
  if (cases.data.length !== count * size)
    throw new Error(`${casesFile}: a case is not ${size} bytes`);
  const results = [];
  for (let i = 0; i < count; i++)
    results.push(runner.run([cases.data.subarray(i * size, (i + 1) * size)])[0]);
  const {type, bytes} = runner.outputs[0];
  const descr = DESCR[type];
  if (!descr) throw new Error(`${model}: output type ${type}`);
  npy.write(outFile, descr, [count, bytes / Number(descr[2])], Buffer.concat(results));
  console.log(`${outFile}: ${count} cases`);
}

main(process.argv.slice(2)).catch((error) => {
  console.error(error.message);
  process.exit(1);
});
