import { axis, figure, legend } from '../lib/chart.js';
import { h } from '../lib/dom.js';
import { power, time } from '../lib/format.js';
import { timeAxis, timeSlider } from '../lib/time_axis.js';

/** Power by component, stacked. */
export function powerOverTime(data) {
  const zero = data.timeline.inference_ns[0];
  const { interval_ns: step, mw } = data.power;
  const { power: p } = data.report;
  const sum = (values) => values.reduce((a, b) => a + b, 0);
  const components = Object.keys(mw)
    .filter((name) => sum(mw[name]) > 0)
    .sort((a, b) => sum(mw[b]) - sum(mw[a]));
  const text = `Peak ${power(p.peak_mw)} at ${time(p.peak_start_ns - zero)}; average of the run ${power(p.average_mw)}, of the inference ${power(p.inference_mw)}; one value for ${time(step)}.`;
  const chart = figure({
    label: `Power over time by component. ${text}`,
    height: 340,
    option: (c) => ({
      grid: { left: 80, right: 20, top: 40, bottom: 66 },
      legend: legend(c),
      xAxis: timeAxis(c, -zero, data.timeline.end_ns - zero),
      yAxis: axis(c, { type: 'value', axisLabel: { formatter: power } }),
      dataZoom: [timeSlider(c)],
      tooltip: {
        trigger: 'axis',
        order: 'valueDesc',
        valueFormatter: power,
        axisPointer: { label: { show: false } },
      },
      series: components.map((name, i) => ({
        name,
        type: 'line',
        stack: 'power',
        step: 'end',
        symbol: 'none',
        lineStyle: { width: 0 },
        areaStyle: { opacity: 0.9 },
        itemStyle: { color: c.series[i % c.series.length] },
        data: mw[name].map((value, k) => [k * step - zero, value]),
      })),
    }),
  });
  return {
    element: h('div', {}, h('p', { class: 'muted' }, text), chart.figure),
    start: () => chart.start(),
  };
}
