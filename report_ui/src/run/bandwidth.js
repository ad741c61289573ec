import { axis, figure, legend } from '../lib/chart.js';
import { h } from '../lib/dom.js';
import { si } from '../lib/format.js';
import { timeAxis, timeSlider } from '../lib/time_axis.js';

const kMost = 600;

/** Sums neighbours so that there are at most kMost intervals. */
function coarser(values, step) {
  const by = Math.max(1, Math.ceil(values.length / kMost));
  const out = [];
  for (let i = 0; i < values.length; i += by)
    out.push(values.slice(i, i + by).reduce((a, b) => a + b, 0));
  return { values: out, step: step * by };
}

/** Bytes a second of each memory and direction. */
export function bandwidth(data) {
  const zero = data.timeline.inference_ns[0];
  const lines = data.traffic.flatMap((t) =>
    ['read', 'write']
      .filter((d) => t[d].length)
      .map((d) => ({
        name: `${t.memory} ${d}`,
        ...coarser(t[d], t.interval_ns),
        total: t[d].reduce((a, b) => a + b, 0),
      })),
  );
  const rate = (v) => si(v, 'B/s');
  const text = lines.map((l) => `${l.name} ${si(l.total, 'B')}`).join(', ');
  const chart = figure({
    label: `Memory traffic over time. In all: ${text}.`,
    height: 340,
    option: (c) => ({
      grid: { left: 90, right: 20, top: 40, bottom: 66 },
      legend: legend(c),
      xAxis: timeAxis(c, -zero, data.timeline.end_ns - zero),
      yAxis: axis(c, { type: 'value', axisLabel: { formatter: rate } }),
      dataZoom: [timeSlider(c)],
      tooltip: { trigger: 'axis', valueFormatter: rate },
      series: lines.map((l, i) => ({
        name: l.name,
        type: 'line',
        step: 'end',
        symbol: 'none',
        lineStyle: { width: 1.4, type: l.name.endsWith('write') ? 'dashed' : 'solid' },
        itemStyle: { color: c.series[i % c.series.length] },
        data: l.values.map((v, k) => [k * l.step - zero, (v / l.step) * 1e9]),
      })),
    }),
  });
  return {
    element: h('div', {}, h('p', { class: 'muted' }, `In all: ${text}.`), chart.figure),
    start: () => chart.start(),
  };
}
