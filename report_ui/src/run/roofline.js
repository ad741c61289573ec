import { axis, figure, legend } from '../lib/chart.js';
import { choice, h } from '../lib/dom.js';
import { escaped, si } from '../lib/format.js';
import { ownNs } from './layers.js';

/** Speed of operators over the work they do for each byte of a memory, under the roofs of MAC array and memory. */
export function roofline(data) {
  const { machine, report } = data;
  const clock = machine.npu_clock_mhz * 1e6;
  const peak = machine.macs_per_cycle * clock;
  const ops = report.ops.filter((op) => op.engine === 'npu' && op.macs > 0 && op.bound_cycles);
  let memory = 'dram';
  const moved = (op) => op.bound_cycles[memory] * machine[`${memory}_bytes_per_cycle`];
  const points = () =>
    ops
      .filter((op) => moved(op) > 0)
      .map((op) => ({
        value: [op.macs / moved(op), (op.macs / ownNs(data, op)) * 1e9],
        op,
      }));
  const note = h('p', { class: 'muted' });
  const chart = figure({
    label:
      'Roofline: speed of the NPU operators over their MACs for each byte. The table of layers has utilisation and bound of each.',
    height: 330,
    option: (c) => {
      const all = points();
      const without = ops.length - all.length;
      note.textContent = `Peak ${si(peak, 'MAC/s')}; ${memory.toUpperCase()} ${si(machine[`${memory}_bytes_per_cycle`] * clock, 'B/s')}.${without ? ` ${without} of ${ops.length} operators use no ${memory.toUpperCase()}.` : ''}`;
      const rate = machine[`${memory}_bytes_per_cycle`] * clock;
      const xs = all.map((p) => p.value[0]).concat(peak / rate);
      const low = 10 ** Math.floor(Math.log10(Math.min(...xs)));
      const high = 10 ** Math.ceil(Math.log10(Math.max(...xs) * 1.5));
      return {
        grid: { left: 100, right: 24, top: 36, bottom: 46 },
        legend: legend(c),
        xAxis: axis(c, {
          type: 'log',
          min: low,
          max: high,
          name: `MAC for each ${memory.toUpperCase()} byte`,
          nameLocation: 'middle',
          nameGap: 26,
        }),
        yAxis: axis(c, { type: 'log', axisLabel: { formatter: (v) => si(v, 'MAC/s') } }),
        tooltip: {
          formatter: (p) =>
            p.data.op
              ? [
                  `#${p.data.op.index} ${p.data.op.kind} ${p.data.op.name}`,
                  `${si(p.value[1], 'MAC/s')}, ${((100 * p.value[1]) / peak).toFixed(1)} % of the peak`,
                  `${p.value[0].toFixed(1)} MAC a byte, bound by ${p.data.op.bound}`,
                ]
                  .map(escaped)
                  .join('<br>')
              : '',
        },
        series: [
          {
            name: 'roof',
            type: 'line',
            symbol: 'none',
            data: [
              [low, Math.min(low * rate, peak)],
              [peak / rate, peak],
              [high, peak],
            ],
            lineStyle: { color: c.text, width: 2 },
            itemStyle: { color: c.text },
            silent: true,
          },
          {
            name: 'operators',
            type: 'scatter',
            symbolSize: 10,
            data: all,
            itemStyle: { color: c.accent },
          },
        ],
      };
    },
  });
  const list = choice(
    'bytes of',
    [
      ['dram', 'DRAM'],
      ['sram', 'SRAM'],
    ],
    (value) => {
      memory = value;
      chart.redraw();
    },
  );
  return {
    element: h('div', {}, h('div', { class: 'bar' }, list), note, chart.figure),
    start: () => chart.start(),
  };
}
