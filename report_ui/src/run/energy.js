import { axis, figure, legend } from '../lib/chart.js';
import { h } from '../lib/dom.js';
import { energy, escaped, percent } from '../lib/format.js';
import { table } from '../lib/table.js';

const kMost = 18;

/** Which operators the energy goes to, by component. */
export function energyStack(data) {
  const { ops, energy_nj: totals, energy_by_cause_nj: causes } = data.report;
  const biggest = [...ops]
    .filter((op) => op.energy_nj > 0)
    .sort((a, b) => b.energy_nj - a.energy_nj)
    .slice(0, kMost);
  const components = [
    ...new Set(biggest.flatMap((op) => Object.keys(op.energy_by_component_nj))),
  ].sort();
  const names = biggest.map((op) => `#${op.index} ${op.kind}`).reverse();
  const chart = figure({
    label: biggest.length
      ? `Energy of the ${biggest.length} operators that take most, by component. Most: ${biggest[0].kind} ${biggest[0].name} with ${energy(biggest[0].energy_nj)}.`
      : 'No operator took energy.',
    height: 390,
    option: (c) => ({
      grid: { left: 170, right: 20, top: 52, bottom: 30 },
      legend: legend(c),
      xAxis: axis(c, { type: 'value', axisLabel: { formatter: energy, hideOverlap: true } }),
      yAxis: axis(c, {
        type: 'category',
        data: names,
        splitLine: { show: false },
        axisLabel: { width: 155, overflow: 'truncate' },
      }),
      tooltip: {
        formatter: (p) => [p.name, `${p.seriesName}: ${energy(p.value)}`].map(escaped).join('<br>'),
      },
      series: components.map((name, i) => ({
        name,
        type: 'bar',
        stack: 'energy',
        barMaxWidth: 18,
        itemStyle: {
          color: c.series[i % c.series.length],
          decal: null,
          opacity: i < c.series.length ? 1 : 0.6,
        },
        data: biggest.map((op) => op.energy_by_component_nj[name] ?? 0).reverse(),
      })),
    }),
  });
  const rows = Object.entries(totals)
    .filter(([name]) => name !== 'total')
    .map(([name, nj]) => ({ name, nj, by: 'component' }))
    .concat(Object.entries(causes).map(([name, nj]) => ({ name, nj, by: 'cause' })));
  const all = table({
    label: 'Energy of the run by component and by cause',
    rows,
    sorted: { column: 2, down: true },
    columns: [
      { name: 'by', words: true, value: (r) => r.by },
      { name: 'name', words: true, value: (r) => r.name },
      { name: 'energy', value: (r) => r.nj, text: (r) => energy(r.nj) },
      { name: 'share', value: (r) => r.nj, text: (r) => percent(r.nj / totals.total) },
    ],
  });
  return {
    element: h(
      'div',
      {},
      h(
        'p',
        { class: 'muted' },
        `The ${biggest.length} operators that take most; leakage and what nobody caused are in the table.`,
      ),
      chart.figure,
      h('details', {}, h('summary', {}, 'The whole run by component and cause'), all.element),
    ),
    start: () => chart.start(),
  };
}
