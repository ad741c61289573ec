import { axis, figure, legend } from '../lib/chart.js';
import { h } from '../lib/dom.js';
import { percent, quantity } from '../lib/format.js';
import { table } from '../lib/table.js';

/** How much of each objective's variance a parameter explains alone, and the means at its levels. */
export function sensitivity({ data, points, selection }) {
  const { objectives, parameters } = data;
  const share = (o, p) =>
    data.sensitivity[o].find((row) => row.parameter === parameters[p].name)?.share ?? 0;
  const most = objectives.map((o, i) => {
    const best = parameters.map((p, k) => [share(i, k), p.name]).sort((a, b) => b[0] - a[0])[0];
    return best ? `${o.name} depends most on ${best[1]} (${percent(best[0])})` : '';
  });
  const chart = figure({
    label: `Sensitivity. ${most.join('; ')}.`,
    caption:
      "Share of an objective's variance that a parameter explains alone; what is missing to 100 % are interactions.",
    height: 70 + 46 * parameters.length + 20,
    option: (c) => ({
      grid: { left: 120, right: 30, top: 36, bottom: 30 },
      legend: legend(c),
      xAxis: axis(c, { type: 'value', min: 0, axisLabel: { formatter: percent } }),
      yAxis: axis(c, {
        type: 'category',
        inverse: true,
        data: parameters.map((p) => p.name),
        splitLine: { show: false },
      }),
      tooltip: { trigger: 'axis', axisPointer: { type: 'shadow' }, valueFormatter: percent },
      series: objectives.map((o, i) => ({
        name: o.name,
        type: 'bar',
        barMaxWidth: 12,
        itemStyle: { color: c.series[i % c.series.length] },
        data: parameters.map((_, k) => share(i, k)),
      })),
    }),
  });
  const rows = parameters.flatMap((p, k) =>
    (data.sensitivity[0]?.find((row) => row.parameter === p.name)?.levels ?? []).map((level) => ({
      parameter: k,
      level: level.level,
      count: level.points,
      means: objectives.map(
        (_, o) =>
          data.sensitivity[o]
            .find((row) => row.parameter === p.name)
            .levels.find((l) => l.level === level.level)?.mean ?? null,
      ),
    })),
  );
  const choose = (row) =>
    selection.set(
      points.filter((p) => p.parameters[row.parameter] === row.level).map((p) => p.index),
      'level',
    );
  const means = table({
    label: 'Means of the objectives at each level',
    rows,
    page: 60,
    columns: [
      { name: 'parameter', words: true, value: (r) => parameters[r.parameter].name },
      {
        name: 'level',
        words: true,
        value: (r) => r.level,
        cell: (r) =>
          h(
            'button',
            {
              type: 'button',
              'aria-label': `Select ${parameters[r.parameter].name} ${r.level}`,
              click: () => choose(r),
            },
            r.level,
          ),
      },
      { name: 'points', value: (r) => r.count },
      ...objectives.map((o, i) => ({
        name: `mean ${o.name}`,
        value: (r) => r.means[i],
        text: (r) => quantity(r.means[i], o.unit),
      })),
    ],
  });
  return {
    element: h(
      'div',
      {},
      chart.figure,
      h('h3', {}, 'Means at each level'),
      h('p', { class: 'muted' }, 'A level selects its points.'),
      means.element,
    ),
    start: () => chart.start(),
  };
}

/** At how many points most of a workload's time is bound by what. */
export function bottlenecks(data) {
  const words = [
    ...new Set(Object.values(data.bottlenecks).flatMap((counts) => Object.keys(counts))),
  ].sort();
  const rows = Object.entries(data.bottlenecks).map(([workload, counts]) => ({ workload, counts }));
  if (!rows.length) return h('p', {}, 'No point ran.');
  return h(
    'div',
    {},
    h('p', { class: 'muted' }, "Points at which most of a workload's time is bound by"),
    table({
      label: 'Points by bottleneck',
      rows,
      columns: [
        { name: 'workload', words: true, value: (r) => r.workload },
        ...words.map((word) => ({ name: word, value: (r) => r.counts[word] ?? 0 })),
      ],
    }).element,
  );
}
