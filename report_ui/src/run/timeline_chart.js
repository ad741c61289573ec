import { axis, echarts, figure } from '../lib/chart.js';
import { escaped } from '../lib/format.js';
import { timeAxis, timeSlider } from '../lib/time_axis.js';
import { fenceArrows, fencePoints, signalPoints } from './fences.js';
import { visible } from './slices.js';

const kRow = 34;

/**
 * The timeline's chart. `view` is what it shows: {shown: [from, to], cursor: {track, slice} or null}, in ns from the start of the
 * inference; who changes it calls redraw().
 */
export function timelineChart(data, tracks, { whole, view, say }) {
  const signals = signalPoints(data);
  const fences = fencePoints(data);
  const lanes = [
    ...tracks.map((t) => t.name),
    ...(fences.length ? ['fences'] : []),
    ...signals.lanes,
  ];
  const arrows = fenceArrows(data, lanes);
  const ink = { text: '', muted: '' };

  function rectangles(c) {
    const out = [];
    tracks.forEach((track, t) => {
      for (const [from, to, op, slice, count] of visible(track, ...view.shown, 1100)) {
        out.push({
          value: [from, to, t, slice, count, op],
          itemStyle: { color: op < 0 ? c.idle : c.series[op % c.series.length] },
        });
      }
    });
    return out;
  }

  function draw(params, api) {
    const from = api.coord([api.value(0), api.value(2)]);
    const to = api.coord([api.value(1), api.value(2)]);
    const rectangle = echarts.graphic.clipRectByRect(
      {
        x: from[0],
        y: from[1] - kRow * 0.36,
        width: Math.max(to[0] - from[0], 1),
        height: kRow * 0.72,
      },
      params.coordSys,
    );
    const { cursor } = view;
    const mine = cursor && api.value(2) === cursor.track && api.value(3) === cursor.slice;
    return (
      rectangle && {
        type: 'rect',
        shape: rectangle,
        style: {
          fill: api.visual('color'),
          stroke: mine ? ink.text : null,
          lineWidth: mine ? 2 : 0,
        },
        emphasis: { style: { stroke: ink.text, lineWidth: 1 } },
      }
    );
  }

  function drawArrow(params, api) {
    const from = api.coord([api.value(0), api.value(1)]);
    const to = api.coord([api.value(2), api.value(3)]);
    const { x, width } = params.coordSys;
    if (Math.max(from[0], to[0]) < x || Math.min(from[0], to[0]) > x + width) return null;
    const cut = (p) => Math.min(Math.max(p, x), x + width);
    return {
      type: 'line',
      silent: true,
      shape: { x1: cut(from[0]), y1: from[1], x2: cut(to[0]), y2: to[1] },
      style: { stroke: ink.muted, lineWidth: 1.2, lineDash: [4, 3] },
    };
  }

  function tooltip(p) {
    if (p.seriesId !== 'slices') return escaped(p.data.text);
    const [from, to, t, slice, count, op] = p.value;
    const lines = slice >= 0 ? say.sliceText(t, slice) : say.manyText(t, count, op, from, to);
    return lines.map(escaped).join('<br>');
  }

  const series = (c) => [
    {
      id: 'slices',
      type: 'custom',
      renderItem: draw,
      encode: { x: [0, 1], y: 2 },
      data: rectangles(c),
      dimensions: ['from', 'to', 'track', 'slice', 'count', 'op'],
    },
    {
      id: 'arrows',
      type: 'custom',
      renderItem: drawArrow,
      encode: { x: [0, 2], y: 1 },
      data: arrows,
      silent: true,
      z: 5,
    },
    {
      id: 'fences',
      type: 'scatter',
      symbol: 'diamond',
      symbolSize: 10,
      itemStyle: { color: c.accent },
      data: fences.map((f) => ({ value: [f.at, 'fences'], text: f.text })),
    },
    {
      id: 'signals',
      type: 'scatter',
      symbol: 'triangle',
      symbolSize: 9,
      itemStyle: { color: c.text },
      data: signals.points,
    },
  ];

  const chart = figure({
    label: `Timeline of ${tracks.map((t) => `${t.name} with ${t.commands} commands`).join(', ')}; ${fences.length} fences. Use the keys described above it.`,
    height: lanes.length * kRow + 100,
    option: (c) => {
      ink.text = c.text;
      ink.muted = c.muted;
      const now = { startValue: view.shown[0], endValue: view.shown[1] };
      return {
        grid: { left: 120, right: 20, top: 10, bottom: 76 },
        xAxis: timeAxis(c, ...whole, {
          name: 'from the start of the inference',
          nameLocation: 'middle',
          nameGap: 26,
        }),
        yAxis: axis(c, {
          type: 'category',
          data: lanes,
          inverse: true,
          axisLabel: { interval: 0 },
        }),
        dataZoom: [
          {
            type: 'inside',
            filterMode: 'none',
            ...now,
            zoomOnMouseWheel: 'ctrl',
            moveOnMouseMove: true,
          },
          timeSlider(c, { ...now, height: 20, bottom: 8 }),
        ],
        tooltip: { formatter: tooltip },
        series: series(c),
      };
    },
  });
  return Object.assign(chart, {
    /** The slices alone, which is all that changes while one drags. */
    redrawSlices: (c) =>
      chart.instance.setOption({ series: [{ id: 'slices', data: rectangles(c) }] }),
  });
}
