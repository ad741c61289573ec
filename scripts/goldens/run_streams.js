// node run_streams.js FOLDER DEPUTY OUT_FOLDER
// What TFLite with XNNPACK says about windows of the PPG and EEG streams: `deputy stream --signal`
// writes the signal, windows are cut and rounded to int8 here. Lines of a window's last sample and
// the scores. FOLDER holds node_modules.
'use strict';
const {execFileSync} = require('child_process');
const fs = require('fs');
const path = require('path');
const {loadRuntime} = require('./tfjs_tflite');

const STREAMS = [
  {
    scenario: 'ppg_heart_rate', model: 'heart_rate', seed: 1, seconds: 90, every: 224,
    planes: 1, channels: 4, step: 32, window: 256
  },
  {
    scenario: 'eeg_implant', model: 'seizure', seed: 17, seconds: 60, every: 1472,
    planes: 22, channels: 1, step: 64, window: 512
  },
];

// Frames hold the new samples of a plane one behind the other; a window is whole planes.
function windowOf(raw, s, first) {
  const out = Buffer.alloc(s.planes * s.window * s.channels);
  let to = 0;
  for (let plane = 0; plane < s.planes; plane++) {
    for (let i = first; i < first + s.window; i++) {
      const frame = Math.floor(i / s.step) * s.planes * s.step;
      for (let c = 0; c < s.channels; c++) {
        const at = (frame + plane * s.step + i % s.step) * s.channels + c;
        const value = Math.floor((raw.readInt16LE(2 * at) + 128) / 256);
        out.writeInt8(Math.max(-128, Math.min(127, value)), to++);
      }
    }
  }
  return out;
}

async function main([folder, deputy, outFolder]) {
  const open = await loadRuntime(folder);
  for (const s of STREAMS) {
    const file = path.join(folder, `${s.scenario}.raw`);
    execFileSync(deputy, [
      'stream', `configs/streams/${s.scenario}.yaml`, '--with', `source.seed=${s.seed}`,
      `source.seconds=${s.seconds}`, '--signal', file
    ]);
    const raw = fs.readFileSync(file);
    fs.unlinkSync(file);
    const runner = open(fs.readFileSync(`workloads/streams/${s.model}.tflite`));
    const samples = raw.length / 2 / s.planes / s.channels;
    let text = '';
    for (let first = 0; first + s.window <= samples; first += s.every) {
      const scores = runner.run([windowOf(raw, s, first)])[0];
      text += `${first + s.window - 1} ${Array.from(new Int8Array(scores)).join(' ')}\n`;
    }
    fs.writeFileSync(path.join(outFolder, `${s.scenario}_xnnpack.txt`), text);
    console.log(`${s.scenario}: ${text.split('\n').length - 1} windows`);
  }
}

main(process.argv.slice(2)).catch((error) => {
  console.error(error.message);
  process.exit(1);
});
