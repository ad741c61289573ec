import { axis, figure, legend } from '../lib/chart.js';
import { choice, h } from '../lib/dom.js';
import { escaped, quantity } from '../lib/format.js';
import { colours } from '../lib/theme.js';

/** Two objectives against each other, with the front of all of them. */
export function scatter({ data, ok, selection }) {
  const { objectives, parameters } = data;
  let [x, y] = [0, Math.min(1, objectives.length - 1)];
  const nameOf = (o) => objectives[o].name;
  const label = (v, o) => quantity(v, objectives[o].unit);
  const tip = (point) =>
    [
      `point ${point.index}${point.front ? ', on the front' : ''}`,
      ...parameters.map((p, i) => `${p.name} ${point.parameters[i]}`),
      ...objectives.map((o, i) => `${o.name} ${quantity(point.objectives[i], o.unit)}`),
    ]
      .map(escaped)
      .join('<br>');

  function series(c) {
    const some = selection.size > 0;
    // A style of its own costs the library much: only selected points have one.
    const item = (p, colour) => ({
      value: [p.objectives[x], p.objectives[y]],
      point: p,
      ...(selection.has(p.index)
        ? { itemStyle: { color: colour, opacity: 1, borderColor: c.text, borderWidth: 1 } }
        : {}),
    });
    const others = (colour) => ({ color: colour, opacity: some ? 0.12 : 0.75 });
    return [
      {
        id: 'all',
        name: 'dominated',
        type: 'scatter',
        symbolSize: 7,
        data: ok.filter((p) => !p.front).map((p) => item(p, c.idle)),
        itemStyle: others(c.idle),
      },
      {
        id: 'front',
        name: 'Pareto front',
        type: 'scatter',
        symbol: 'diamond',
        symbolSize: 12,
        data: ok.filter((p) => p.front).map((p) => item(p, c.series[5])),
        itemStyle: others(c.series[5]),
      },
    ];
  }
  const chart = figure({
    label: `Scatter of ${ok.length} points; axes can be chosen above it. The table of points has the same values.`,
    height: 460,
    option: (c) => ({
      grid: { left: 100, right: 30, top: 40, bottom: 56 },
      legend: legend(c),
      xAxis: axis(c, {
        name: nameOf(x),
        nameLocation: 'middle',
        nameGap: 30,
        axisLabel: { formatter: (v) => label(v, x), hideOverlap: true },
        ...range(x),
      }),
      yAxis: axis(c, {
        name: nameOf(y),
        axisLabel: { formatter: (v) => label(v, y) },
        nameTextStyle: { color: c.muted, align: 'left' },
        ...range(y),
      }),
      tooltip: { formatter: (p) => (p.data?.point ? tip(p.data.point) : '') },
      toolbox: { show: false },
      brush: {
        toolbox: [],
        xAxisIndex: 0,
        yAxisIndex: 0,
        brushType: 'rect',
        brushMode: 'single',
        throttleType: 'debounce',
        throttleDelay: 60,
        outOfBrush: {},
        inBrush: {},
        brushStyle: { color: 'rgba(120,140,170,0.18)', borderColor: c.accent, borderWidth: 1 },
      },
      series: series(c),
    }),
  });
  /** Logarithmic over more than a factor of eight. */
  function range(o) {
    const values = ok.map((p) => p.objectives[o]).filter((v) => v > 0);
    const least = values.reduce((a, b) => Math.min(a, b), Infinity);
    const most = values.reduce((a, b) => Math.max(a, b), 0);
    return most > 8 * least
      ? { type: 'log', min: least * 0.94, max: most * 1.06 }
      : { type: 'value', scale: true };
  }
  const brushOn = () =>
    chart.instance.dispatchAction({
      type: 'takeGlobalCursor',
      key: 'brush',
      brushOption: { brushType: 'rect', brushMode: 'single' },
    });
  let pointed = false; // the library draws all again for the brush, so it waits for a pointer
  const redraw = () => {
    if (!chart.instance) return;
    chart.redraw();
    if (pointed) brushOn();
  };
  const lists = [
    [
      'across',
      (v) => {
        x = v;
      },
    ],
    [
      'up',
      (v) => {
        y = v;
      },
    ],
  ].map(([text, use]) =>
    choice(
      text,
      objectives.map((o, i) => [String(i), nameOf(i)]),
      (value) => {
        use(Number(value));
        selection.set([], 'scatter');
        redraw();
      },
    ),
  );
  lists[1].querySelector('select').value = String(y);

  selection.onChange((source) => {
    if (!chart.instance) return;
    if (source !== 'scatter') chart.instance.dispatchAction({ type: 'brush', areas: [] });
    chart.instance.setOption({ series: series(colours()) });
  });
  return {
    element: h('div', {}, h('div', { class: 'bar' }, lists), chart.figure),
    start: () =>
      chart.start((instance) => {
        chart.element.addEventListener(
          'pointerenter',
          () => {
            pointed = true;
            brushOn();
          },
          { once: true },
        );
        instance.on('brushEnd', ({ areas }) => {
          if (!areas.length) return selection.set([], 'scatter');
          const [[left, right], [low, high]] = areas[0].coordRange;
          selection.set(
            ok
              .filter(
                (p) =>
                  p.objectives[x] >= left &&
                  p.objectives[x] <= right &&
                  p.objectives[y] >= low &&
                  p.objectives[y] <= high,
              )
              .map((p) => p.index),
            'scatter',
          );
        });
        instance.on('click', (p) => p.data?.point && selection.toggle(p.data.point.index, 'point'));
      }),
  };
}
