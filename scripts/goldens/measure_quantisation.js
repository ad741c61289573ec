// node measure_quantisation.js FOLDER DEPUTY WORK SHARED
// VARIANTS="default;mixed" and FORMATS="onnx" in the environment take a part of the table.
// FOLDER holds node_modules, WORK the samples and gets the models, SHARED the golden data (networks trained by others;
// left out where absent).
'use strict';
const fs = require('fs');
const path = require('path');
const {execFileSync} = require('child_process');
const npy = require('./npy');
const {loadRuntimes} = require('./outside');

/// What ONNX Runtime's quantize_static does by default (its documentation: MinMax calibration, per_channel=False, symmetric
/// int8 weights, asymmetric activations), and with per_channel=True.
const ONNX_RUNTIME = ['--method', 'minmax', '--no-bias-correction', '--equalise', 'off', '--rounding', 'nearest'];
const VARIANTS = [
  ['default', []],
  ['mse', ['--method', 'mse']],
  ['minmax', ['--method', 'minmax']],
  ['average', ['--method', 'average']],
  ['percentile', ['--method', 'percentile']],
  ['entropy', ['--method', 'entropy']],
  ['nearest', ['--rounding', 'nearest']],
  ['compensated', ['--rounding', 'compensated']],
  ['per tensor', ['--per-tensor', '--equalise', 'off']],
  ['per tensor, equalised', ['--per-tensor', '--equalise', 'on']],
  ['ONNX Runtime\'s rules', [...ONNX_RUNTIME, '--per-tensor']],
  ['the same, per channel', [...ONNX_RUNTIME, '--matrix-per-channel']],
  ['mixed', ['--mixed', '--budget', 'bytes=25']],
  ['mixed, compensated', ['--mixed', '--budget', 'bytes=25', '--rounding', 'compensated']],
];

function floats(file) { return new Float32Array(npy.read(file).data.slice().buffer); }

function metric(name, outputs, inputs, labels) {
  const n = labels.length, width = outputs.length / n;
  const row = (i) => outputs.subarray(i * width, (i + 1) * width);
  const error = (i, f) => row(i).reduce((sum, v, k) => sum + f(v - inputs[i * width + k]), 0);
  if (name === 'top1') return labels.reduce((sum, l, i) => sum + (row(i).indexOf(Math.max(...row(i))) === l), 0) / n;
  if (name === 'mae') return labels.reduce((sum, l, i) => sum + error(i, Math.abs), 0) / outputs.length;
  const scores = labels.map((l, i) => [error(i, (d) => d * d), l]);
  let pairs = 0, wins = 0;
  for (const [a, la] of scores)
    for (const [b, lb] of scores)
      if (la > lb) pairs++, wins += a > b ? 1 : a === b ? 0.5 : 0;
  return wins / pairs;
}

/// Float networks of others: no labels, but files large enough that what is not weights does not hide the weights.
function measureSizes(deputy, work, shared) {
  const manifest = path.join(shared, 'manifest.json');
  if (!fs.existsSync(manifest)) return [];
  const rows = [];
  const wanted = ['ad01_fp32.tflite', 'vww_96_float.tflite', 'kai_jiang_v1.1_vww_96_float.onnx', 'pretrainedResnet.tflite', 'kws_ref_model_float32.tflite', 'mnist.onnx'];
  for (const entry of JSON.parse(fs.readFileSync(manifest)).models) {
    if (!wanted.includes(path.basename(entry.file))) continue;
    const calib = entry.cases.map((c, i) => {
      const file = typeof c.inputs[0] === 'string' ? c.inputs[0] : c.inputs[0].file, out = path.join(work, `${path.basename(entry.file)}.${i}.npy`);
      const data = fs.readFileSync(path.join(shared, file));
      npy.write(out, '<f4', entry.inputs?.[0]?.shape ?? c.inputs[0].shape, data);
      return out;
    });
    for (const format of ['onnx', 'tflite'])
      for (const [variant, options] of [['per channel', []], ['per tensor', ['--per-tensor']]]) {
        const out = path.join(work, `${path.basename(entry.file)}-${variant.replace(' ', '_')}.${format}`);
        try {
          const r = JSON.parse(execFileSync(deputy, ['quantize', path.join(shared, entry.file), '--calib', ...calib, '-o', out, '--json', ...options], {stdio: ['ignore', 'pipe', 'pipe']}));
          const row = {network: path.basename(entry.file), variant, format, weights: r.weights, biases: r.biases, file: r.file, sqnr_db: r.output_sqnr_db};
          rows.push(row);
          console.log(['size', row.network, variant, format, `weights ${r.weights.before} ${r.weights.after}`, `biases ${r.biases.before} ${r.biases.after}`,
                       `file ${r.file.before} ${r.file.after} ${(100 * r.file.after / r.file.before).toFixed(1)} %`, `${(r.output_sqnr_db ?? NaN).toFixed(1)} dB`].join(' | '));
        } catch (error) {
          console.log(['size', path.basename(entry.file), variant, format, String(error.stderr ?? error.message).trim()].join(' | '));
        }
      }
  }
  return rows;
}

function wanted(variable, name) {
  const list = process.env[variable];
  return !list || list.split(';').includes(name);
}

async function main([folder, deputy, work, shared]) {
  const samples = (name) => path.join(work, 'samples', name);
  const networks = [
    {name: 'digits', model: 'workloads/trained/digits.onnx', data: 'digits', metric: 'top1', options: ['--dim', 'batch=1']},
    {name: 'digits_uneven', model: 'workloads/trained/digits_uneven.onnx', data: 'digits', metric: 'top1', options: ['--dim', 'batch=1']},
    {name: 'beats_ae, error', model: 'workloads/trained/beats_ae.onnx', data: 'beats', metric: 'mae', options: ['--dim', 'batch=1']},
    {name: 'beats_ae, artefacts', model: 'workloads/trained/beats_ae.onnx', data: 'beats', metric: 'anomaly-auc', options: ['--dim', 'batch=1']},
    {name: 'heartbeats', model: path.join(shared, 'models/classify_heartbeats_cnn.tflite'), data: 'heartbeats', metric: 'top1', options: []},
    {name: 'mnist', model: path.join(shared, 'models/mnist.onnx'), data: 'mnist', metric: 'top1', options: []},
  ];
  const run = await loadRuntimes(folder);
  const json = [];
  for (const net of networks) {
    if (!fs.existsSync(net.model) || !fs.existsSync(samples(`${net.data}_x.npy`))) continue;
    const inputs = floats(samples(`${net.data}_x.npy`));
    const labels = [...new BigInt64Array(npy.read(samples(`${net.data}_y.npy`)).data.slice().buffer)].map(Number);
    for (const [variant, options] of VARIANTS) {
      if (!wanted('VARIANTS', variant)) continue;
      for (const format of ['onnx', 'tflite']) {
        if (!wanted('FORMATS', format)) continue;
        const out = path.join(work, `${net.name}-${variant}.${format}`.replace(/[', ]+/g, '_'));
        const report = JSON.parse(execFileSync(deputy, [
          'quantize', net.model, '--calib', samples(`${net.data}_calib.npy`), '-o', out, '--eval', samples(`${net.data}_x.npy`),
          '--labels', net.metric === 'mae' ? 'input' : samples(`${net.data}_y.npy`), '--metric', net.metric, '--json', ...net.options, ...options]));
        let outside;
        try {
          outside = metric(net.metric, await run(out, inputs), inputs, labels);
        } catch (error) {
          outside = error.message;
        }
        const row = {network: net.name, variant, format, metric: net.metric, float: report.metric.float, int8: report.metric.int8, outside, same_answer: report.metric.same_answer, samples: report.metric.samples, method: report.method,
                     sqnr_db: report.metric.sqnr_db, weights: report.weights.after / report.weights.before, file: [report.file.before, report.file.after]};
        json.push(row);
        console.log([net.name, variant, format, net.metric, row.float.toFixed(5), row.int8.toFixed(5), typeof outside === 'number' ? outside.toFixed(5) : outside,
                     `${row.same_answer}/${row.samples}`, row.method, (row.sqnr_db ?? NaN).toFixed(1), row.weights.toFixed(4), row.file.join(' ')].join(' | '));
      }
    }
  }
  const sizes = measureSizes(deputy, work, shared);
  fs.writeFileSync(path.join(work, 'results.json'), JSON.stringify({accuracy: json, sizes}, null, 1) + '\n');
}

main(process.argv.slice(2)).catch((error) => {
  console.error(error.message);
  process.exit(1);
});
