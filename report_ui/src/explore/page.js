import { facts, h, section } from '../lib/dom.js';
import { quantity } from '../lib/format.js';
import { parallel } from './parallel.js';
import { pointsOf } from './points.js';
import { pointTable } from './point_table.js';
import { scatter } from './scatter.js';
import { Selection } from './selection.js';
import { bottlenecks, sensitivity } from './sensitivity.js';

/** The page of an exploration. */
export function explorePage(data, main) {
  const points = pointsOf(data);
  const ok = points.filter((p) => p.status === 'ok');
  const selection = new Selection();
  const front = points.filter((p) => p.front);
  const count = h('output', { id: 'selected', 'aria-live': 'polite' }, 'No point is selected.');
  selection.onChange(() => {
    count.textContent = selection.size
      ? `${selection.size} of ${points.length} points are selected.`
      : 'No point is selected.';
  });
  const button = (text, does) => h('button', { type: 'button', click: does }, text);
  const context = { data, points, ok, selection };
  const parts = [scatter(context), parallel(context), sensitivity(context)];
  const [plot, lines, effects] = parts;
  main.append(
    section(
      'Summary',
      facts([
        ['points', String(points.length)],
        ['on the Pareto front', String(front.length)],
        ...data.objectives.map((o, i) => [
          `least ${o.name}`,
          ok.length
            ? quantity(
                ok.reduce((least, p) => Math.min(least, p.objectives[i]), Infinity),
                o.unit,
              )
            : '-',
        ]),
        ...Object.entries(data.statuses)
          .filter(([status]) => status !== 'ok')
          .map(([status, n]) => [status, String(n)]),
      ]),
    ),
    section(
      'Selection',
      h(
        'p',
        { class: 'muted' },
        'Points selected in one view are set apart in all: drag a rectangle in the scatter, a range on an axis of the parallel coordinates, press a level, or tick rows.',
      ),
      h(
        'div',
        { class: 'bar' },
        button('Select the front', () =>
          selection.set(
            front.map((p) => p.index),
            'button',
          ),
        ),
        button('Select nothing', () => selection.set([], 'button')),
      ),
      count,
    ),
    section('Pareto scatter', plot.element),
    section('Parallel coordinates', lines.element),
    section('Sensitivity', effects.element),
    section('Bottlenecks', bottlenecks(data)),
    section('Points', pointTable(context)),
  );
  return {
    title: `${data.name} on ${data.soc}`,
    about: `exploration by ${data.method}, ${points.length} points`,
    start: () => parts.forEach((part) => part.start()),
  };
}
