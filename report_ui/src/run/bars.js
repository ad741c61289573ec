import { axis, figure, legend } from '../lib/chart.js';
import { escaped, time } from '../lib/format.js';
import { ownNs } from './layers.js';

const kResources = ['compute', 'scratchpad', 'decoder', 'sram', 'dram'];

/** Each NPU operator's time beside what each resource needs at its full rate: the longest of these is the bound. */
export function barsOfLayers(data) {
  const ops = data.report.ops.filter((op) => op.bound_cycles);
  const ns = (cycles) => (cycles / data.machine.npu_clock_mhz) * 1000;
  const names = ops.map((op) => `#${op.index} ${op.kind}`);
  const last = Math.min(names.length, 24) - 1;
  const worst = ops.reduce((a, b) => ((a?.bound_ratio ?? 0) > b.bound_ratio ? a : b), null);
  const chart = figure({
    label: worst
      ? `Bars of ${ops.length} NPU operators with the least time of each resource. Farthest from its bound: ${worst.kind} ${worst.name}, ${worst.bound_ratio.toFixed(2)} times. The table above has all values.`
      : 'No NPU operators.',
    caption:
      'Time of each NPU operator; marks are the times that single resources need at their full rate, of which the longest is the bound.',
    height: 330,
    option: (c) => ({
      grid: { left: 80, right: 20, top: 40, bottom: 96 },
      legend: legend(c),
      xAxis: axis(c, {
        type: 'category',
        data: names,
        axisLabel: { rotate: 35, hideOverlap: true },
        splitLine: { show: false },
      }),
      yAxis: axis(c, { type: 'value', axisLabel: { formatter: time } }),
      dataZoom:
        names.length > 24
          ? [
              {
                type: 'slider',
                startValue: 0,
                endValue: last,
                height: 16,
                bottom: 4,
                textStyle: { color: c.text },
              },
            ]
          : [],
      tooltip: {
        trigger: 'axis',
        formatter: (all) => {
          const op = ops[all[0].dataIndex];
          return [
            `#${op.index} ${op.kind} ${op.name}`,
            `took ${time(ownNs(data, op))}, ${op.bound_ratio.toFixed(2)} x its bound (${op.bound})`,
            ...kResources
              .filter((r) => op.bound_cycles[r] > 0)
              .map((r) => `${r} ${time(ns(op.bound_cycles[r]))}`),
          ]
            .map(escaped)
            .join('<br>');
        },
      },
      series: [
        {
          name: 'own time',
          type: 'bar',
          data: ops.map((op) => ownNs(data, op)),
          itemStyle: { color: c.idle },
          barMaxWidth: 34,
        },
        ...kResources.map((r, i) => ({
          name: r,
          type: 'scatter',
          symbol: 'rect',
          symbolSize: [26, 4],
          itemStyle: { color: c.series[i] },
          data: ops.map((op) => (op.bound_cycles[r] > 0 ? ns(op.bound_cycles[r]) : null)),
        })),
      ],
    }),
  });
  return { element: chart.figure, start: () => chart.start() };
}
