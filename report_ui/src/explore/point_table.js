import { choice, h } from '../lib/dom.js';
import { quantity } from '../lib/format.js';
import { table } from '../lib/table.js';

/** Every point, sortable; ticked rows are the selection. */
export function pointTable({ data, points, selection }) {
  let only = 'all';
  const rows = () =>
    points.filter((p) =>
      only === 'all' ? true : only === 'front' ? p.front : selection.has(p.index),
    );
  const view = table({
    label: 'All points',
    rows: points,
    page: 25,
    sorted: { column: 1, down: false },
    columns: [
      {
        name: 'selected',
        value: (p) => (selection.has(p.index) ? 1 : 0),
        cell: (p) => {
          const box = h('input', {
            type: 'checkbox',
            'aria-label': `Select point ${p.index}`,
            'data-point': p.index,
            change: () => selection.toggle(p.index, 'table'),
          });
          box.checked = selection.has(p.index);
          return box;
        },
      },
      { name: 'point', value: (p) => p.index },
      ...data.parameters.map((parameter, i) => ({
        name: parameter.name,
        words: true,
        value: (p) => p.parameters[i],
      })),
      ...data.objectives.map((o, i) => ({
        name: o.name,
        value: (p) => p.objectives[i],
        text: (p) => quantity(p.objectives[i], o.unit),
      })),
      { name: 'front', words: true, value: (p) => (p.front ? 'yes' : 'no') },
      ...(points.some((p) => p.status !== 'ok')
        ? [{ name: 'status', words: true, long: true, value: (p) => p.status }]
        : []),
    ],
  });
  view.choose((p) => selection.has(p.index));
  selection.onChange((source) => {
    const ticked = source === 'table' ? document.activeElement?.dataset?.point : null;
    if (only === 'selected' && source !== 'table') view.show(rows());
    else view.choose((p) => selection.has(p.index));
    if (ticked) view.element.querySelector(`[data-point="${ticked}"]`)?.focus(); // the row was drawn anew
  });
  const list = choice(
    'rows',
    [
      ['all', 'all points'],
      ['front', 'the Pareto front'],
      ['selected', 'the selection'],
    ],
    (value) => {
      only = value;
      view.show(rows());
    },
  );
  return h('div', {}, h('div', { class: 'bar' }, list), view.element);
}
