import { bytes, energy, percent, power, si, time } from '../lib/format.js';
import { facts, h, section } from '../lib/dom.js';
import { bandwidth } from './bandwidth.js';
import { barsOfLayers } from './bars.js';
import { energyStack } from './energy.js';
import { layerTable } from './layers.js';
import { memoryMap } from './memory.js';
import { powerOverTime } from './power.js';
import { roofline } from './roofline.js';
import { timeline } from './timeline.js';

function summary(report) {
  const moved = Object.values(report.bytes).reduce((sum, b) => sum + b.read + b.write, 0);
  return facts([
    ['latency', time(report.latency_ns)],
    ['energy of the run', energy(report.energy_nj.total)],
    ['of the inference', energy(report.power.inference_nj)],
    ['peak power', power(report.power.peak_mw)],
    ['work', si(report.macs.total, 'MAC')],
    ['MAC array used', percent(report.mac_utilisation)],
    ['over the bound', report.bound_ratio ? `${report.bound_ratio.toFixed(2)} x` : '-'],
    ['memories moved', bytes(moved)],
  ]);
}

function problems(report) {
  const texts = [...(report.failure ? [report.failure] : []), ...report.imbalances];
  return texts.length
    ? h(
        'div',
        { role: 'alert', class: 'problem' },
        texts.map((text) => h('p', {}, text)),
      )
    : null;
}

/** The page of one run. */
export function runPage(data, main) {
  const { report } = data;
  const view = timeline(data);
  const layers = layerTable(data, (op) => view.showOperator(op));
  view.onOperator((op) => layers.choose(op));
  const parts = [
    view,
    barsOfLayers(data),
    roofline(data),
    energyStack(data),
    memoryMap(data),
    powerOverTime(data),
    bandwidth(data),
  ];
  const [, bars, roof, stack, memory, watts, traffic] = parts;
  main.append(
    section('Summary', summary(report), problems(report)),
    section('Timeline', view.element),
    section('Layers', layers.element),
    section('Layers and their bounds', bars.element),
    h(
      'div',
      { class: 'columns' },
      section('Roofline', roof.element),
      section('Energy of layers', stack.element),
    ),
    section('Memory over time', memory.element),
    h(
      'div',
      { class: 'columns' },
      section('Power over time', watts.element),
      section('Memory traffic over time', traffic.element),
    ),
  );
  return {
    title: `${report.model} on ${report.soc}`,
    about: `numerics ${report.numerics}, executable ${report.executable_hash}${report.timing_only ? ', timing only' : ''}`,
    start: () => parts.forEach((part) => part.start()),
  };
}
