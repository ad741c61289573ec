import { h } from './dom.js';

/**
 * A table whose columns sort. Columns: {name, value(row), text(row) or cell(row), words}. With more than `page` rows it has pages.
 * Returns {element, show(rows), choose(test), sort(column)}.
 */
export function table({ label, columns, rows, page = Infinity, sorted = null, onSort = () => {} }) {
  let order = sorted ?? { column: 0, down: false };
  let shown = rows;
  let first = 0;
  let chosen = () => false;
  const body = h('tbody');
  const heads = columns.map((column, i) =>
    h(
      'th',
      { scope: 'col', class: column.words ? 'words' : null },
      h('button', { type: 'button', click: () => sort(i) }, column.name),
    ),
  );
  const status = h('span', { role: 'status', class: 'muted' });
  const step = (by) => () => {
    first += by;
    draw();
  };
  const back = h('button', { type: 'button', click: step(-page) }, 'Previous rows');
  const next = h('button', { type: 'button', click: step(page) }, 'Next rows');

  function draw() {
    const { column, down } = order;
    const key = columns[column].value;
    const sign = down ? -1 : 1;
    const all = shown.map((row) => [key(row), row]);
    all.sort(([a], [b]) => {
      if (a === null || b === null) return (a === null) - (b === null); // what has no value comes last
      return sign * (typeof a === 'string' ? a.localeCompare(b, 'en', { numeric: true }) : a - b);
    });
    first = Math.max(0, Math.min(first, all.length - 1));
    heads.forEach((head, i) =>
      i === column
        ? head.setAttribute('aria-sort', down ? 'descending' : 'ascending')
        : head.removeAttribute('aria-sort'),
    );
    const part = Number.isFinite(page) ? all.slice(first, first + page) : all;
    body.replaceChildren(
      ...part.map(([, row]) =>
        h(
          'tr',
          { class: chosen(row) ? 'chosen' : null },
          columns.map((c) =>
            h(
              'td',
              {
                class: [c.words ? 'words' : '', c.long ? 'long' : ''].join(' ').trim() || null,
                title: c.long ? c.value(row) : null,
              },
              c.cell ? c.cell(row) : (c.text ?? c.value)(row),
            ),
          ),
        ),
      ),
    );
    status.textContent =
      part.length < all.length
        ? `rows ${first + 1} to ${first + part.length} of ${all.length}`
        : `${all.length} rows`;
    back.disabled = first === 0;
    next.disabled = first + part.length >= all.length;
  }
  function sort(column) {
    order = { column, down: order.column === column ? !order.down : !columns[column].words };
    first = 0;
    draw();
    onSort(order);
  }
  draw();
  return {
    element: h(
      'div',
      {},
      h(
        'div',
        { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': label },
        h('table', { 'aria-label': label }, h('thead', {}, h('tr', {}, heads)), body),
      ),
      h('div', { class: 'bar' }, Number.isFinite(page) ? [back, next] : [], status),
    ),
    show(some) {
      shown = some;
      first = 0;
      draw();
    },
    choose(test) {
      chosen = test;
      draw();
    },
    sort,
  };
}
