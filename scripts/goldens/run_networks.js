// node run_networks.js FOLDER MODELS GOLDENS
// Runs every network that write_golden_models wrote into MODELS and writes its outputs, and a hash of
// every tensor, into GOLDENS/<network>/. FOLDER holds node_modules.
'use strict';
const fs = require('fs');
const path = require('path');
const {loadRuntime} = require('./tfjs_tflite');

/// FNV-1a, 64 bits.
function hash(bytes) {
  let h = 0xcbf29ce484222325n;
  for (const byte of bytes) h = ((h ^ BigInt(byte)) * 0x100000001b3n) & 0xffffffffffffffffn;
  return h.toString(16).padStart(16, '0');
}

async function makeGoldens(folder, models, goldens, name) {
  const open = await loadRuntime(folder);
  const model = fs.readFileSync(path.join(models, `${name}.tflite`));
  const plain = open(model);
  const all = open(fs.readFileSync(path.join(models, `${name}.all.tflite`)));
  const target = path.join(goldens, name);
  fs.mkdirSync(target, {recursive: true});
  const cases = [];
  for (let seed = 1; fs.existsSync(path.join(models, `${name}.input${seed}.bin`)); seed++) {
    const input = fs.readFileSync(path.join(models, `${name}.input${seed}.bin`));
    const output = plain.run([input])[0];
    const tensors = all.run([input]);
    const index = plain.outputs[0].index;
    const exposed = tensors[all.outputs.findIndex((t) => t.index === index)];
    if (Buffer.compare(exposed, output) !== 0)
      throw new Error(`${name}: exposing every tensor changed the output`);
    fs.writeFileSync(path.join(target, `output${seed}.bin`), output);
    cases.push({
      seed,
      input_hash: hash(input),
      output: `output${seed}.bin`,
      tensors: tensors.map((bytes, i) => ({index: all.outputs[i].index, hash: hash(bytes)})),
    });
  }
  const golden = {
    network: name,
    runtime: '@tensorflow/tfjs-tflite 0.0.1-alpha.10',
    numerics: 'fp32',
    model_bytes: model.length,
    model_hash: hash(model),
    builtin_ops: plain.builtinOps(),
    cases,
  };
  // One tensor a line: readable, and small differences when something changes.
  const text = JSON.stringify(golden, null, 1).replace(
      /\{\s+"index": (\d+),\s+"hash": ("[0-9a-f]+")\s+\}/g, '{"index": $1, "hash": $2}');
  fs.writeFileSync(path.join(target, 'golden.json'), text + '\n');
  console.log(
      `${name}: ${cases.length} inputs, ${cases[0].tensors.length} tensors; ` +
      `TFLite's own kernels: ${golden.builtin_ops.join(' ') || 'none'}`);
}

async function main([folder, models, goldens]) {
  const names = fs.readdirSync(models)
                    .filter((file) => file.endsWith('.all.tflite'))
                    .map((file) => file.slice(0, -'.all.tflite'.length))
                    .sort();
  for (const name of names) await makeGoldens(folder, models, goldens, name);
}

main(process.argv.slice(2)).catch((error) => {
  console.error(error.message);
  process.exit(1);
});
