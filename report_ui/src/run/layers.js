import { h } from '../lib/dom.js';
import { bytes, energy, percent, si, time } from '../lib/format.js';
import { table } from '../lib/table.js';

/** Time that is the operator's own: shares of operators that overlap add up to the engines' time. */
export function ownNs(data, op) {
  if (op.engine !== 'npu') return op.latency_ns;
  return (op.own_cycles / data.machine.npu_clock_mhz) * 1000;
}

/** One row an operator. `onShow(index)` is called for one to be looked at. */
export function layerTable(data, onShow) {
  const { ops, latency_ns: latency } = data.report;
  const widest = Math.max(...ops.map((op) => ownNs(data, op)), 1e-9);
  const moved = (op) => op.bytes.load + op.bytes.store;
  const columns = [
    { name: '#', value: (op) => op.index },
    { name: 'operator', words: true, value: (op) => op.kind },
    {
      name: 'result',
      words: true,
      long: true,
      value: (op) => op.name,
      cell: (op) =>
        h(
          'button',
          {
            type: 'button',
            title: `Show ${op.name} in the timeline`,
            click: () => onShow(op.index),
          },
          op.name || `#${op.index}`,
        ),
    },
    { name: 'engine', words: true, value: (op) => op.engine },
    {
      name: 'own time',
      value: (op) => ownNs(data, op),
      cell: (op) => [
        h('span', {
          class: 'share',
          'aria-hidden': 'true',
          style: `width:${((70 * ownNs(data, op)) / widest).toFixed(1)}px`,
        }),
        time(ownNs(data, op)),
      ],
    },
    {
      name: 'of latency',
      value: (op) => ownNs(data, op) / latency,
      text: (op) => percent(ownNs(data, op) / latency),
    },
    { name: 'MACs', value: (op) => op.macs, text: (op) => (op.macs ? si(op.macs) : '-') },
    {
      name: 'utilisation',
      value: (op) => op.mac_utilisation,
      text: (op) => (op.mac_utilisation ? percent(op.mac_utilisation) : '-'),
    },
    { name: 'moved', value: moved, text: (op) => (moved(op) ? bytes(moved(op)) : '-') },
    { name: 'energy', value: (op) => op.energy_nj, text: (op) => energy(op.energy_nj) },
    { name: 'bound by', words: true, value: (op) => op.bound || '-' },
    {
      name: 'over bound',
      value: (op) => op.bound_ratio ?? null,
      text: (op) => (op.bound_ratio ? `${op.bound_ratio.toFixed(2)} x` : '-'),
    },
    { name: 'why on the CPU', words: true, long: true, value: (op) => op.reason ?? '' },
  ].filter((column) => column.name !== 'why on the CPU' || ops.some((op) => op.reason));
  const view = table({ label: 'Operators', columns, rows: ops, page: 200 });
  return {
    element: h(
      'div',
      {},
      h(
        'p',
        { class: 'muted' },
        'Column headings sort. The name of a result shows it in the timeline.',
      ),
      view.element,
    ),
    choose: (op) => view.choose((row) => row.index === op),
  };
}
