import { figure } from '../lib/chart.js';
import { h } from '../lib/dom.js';
import { quantity } from '../lib/format.js';
import { colours } from '../lib/theme.js';
import { orderedLevels } from './points.js';

/** A line a point through its parameters and objectives. */
export function parallel({ data, points, ok, selection }) {
  const { parameters, objectives } = data;
  const axes = (c) =>
    [
      ...parameters.map((p, i) => ({
        dim: i,
        name: p.name,
        type: 'category',
        data: orderedLevels(p, points, i),
      })),
      ...objectives.map((o, i) => ({
        dim: parameters.length + i,
        name: o.name,
        type: 'value',
        scale: true,
        axisLabel: { formatter: (v) => quantity(v, o.unit) },
      })),
    ].map((a) => ({
      ...a,
      nameTextStyle: { color: c.text },
      axisLabel: { color: c.text, hideOverlap: true, ...a.axisLabel },
      axisLine: { lineStyle: { color: c.muted } },
      axisTick: { lineStyle: { color: c.line } },
      areaSelectStyle: { width: 22, color: c.accent, borderColor: c.accent, opacity: 0.25 },
    }));
  const valueOf = (p) => [...p.parameters, ...p.objectives];

  function series(c) {
    const some = selection.size > 0;
    const lines = (test) => ok.filter(test).map((p) => ({ value: valueOf(p), point: p.index }));
    const of = (id, test, colour, width, opacity, z) => ({
      id,
      name: id,
      type: 'parallel',
      data: lines(test),
      lineStyle: { color: colour, width, opacity },
      z,
      inactiveOpacity: opacity,
      activeOpacity: opacity,
      silent: true,
      progressive: 0,
    });
    const chosen = (p) => (some ? selection.has(p.index) : p.front);
    return [
      of('others', (p) => !chosen(p), c.idle, 1, some ? 0.06 : 0.16, 1),
      of('chosen', chosen, c.series[5], 1.6, 0.9, 2),
    ];
  }
  const chart = figure({
    label: `Parallel coordinates of ${parameters.map((p) => p.name).join(', ')} and ${objectives.map((o) => o.name).join(', ')}: one line a point. Highlighted is the selection, or the Pareto front while nothing is selected.`,
    height: 420,
    option: (c) => ({
      parallel: { left: 60, right: 90, top: 50, bottom: 30, parallelAxisDefault: { nameGap: 16 } },
      parallelAxis: axes(c),
      tooltip: { show: false },
      series: series(c),
    }),
  });

  /** Points inside the ranges that are set on the axes. */
  function inRanges(instance) {
    const model = instance.getModel();
    const tests = [];
    model.eachComponent('parallelAxis', (one) => {
      const ranges = one.activeIntervals;
      if (!ranges.length) return;
      const dim = one.get('dim');
      const levels = dim < parameters.length ? one.get('data') : null;
      tests.push((p) => {
        const raw = valueOf(p)[dim];
        const value = levels ? levels.indexOf(raw) : raw;
        return ranges.some(([low, high]) => value >= low && value <= high);
      });
    });
    return tests.length ? ok.filter((p) => tests.every((test) => test(p))).map((p) => p.index) : [];
  }
  selection.onChange((source) => {
    if (!chart.instance) return;
    if (source === 'parallel') chart.instance.setOption({ series: series(colours()) });
    else chart.redraw(); // which also takes the ranges away
  });
  return {
    element: h(
      'div',
      {},
      h(
        'p',
        { class: 'muted' },
        'Drag along an axis to select a range; a click on the axis takes it away. Without a selection, the Pareto front is highlighted.',
      ),
      chart.figure,
    ),
    start: () =>
      chart.start((instance) => {
        instance.on('axisareaselected', () => selection.set(inRanges(instance), 'parallel'));
      }),
  };
}
