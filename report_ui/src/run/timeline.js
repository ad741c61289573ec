import { axis, echarts, figure } from '../lib/chart.js';
import { h } from '../lib/dom.js';
import { bytes, escaped, si, time } from '../lib/format.js';
import { fenceArrows, fencePoints, signalPoints } from './fences.js';
import { colours } from '../lib/theme.js';
import { firstAfter, tracksOf, visible } from './slices.js';

const kRow = 34;

/** All engines over time, zoomable by mouse and keyboard. */
export function timeline(data) {
  const { report } = data;
  const tracks = tracksOf(data);
  const zero = data.timeline.inference_ns[0];
  const whole = [-zero, data.timeline.end_ns - zero];
  const inference = [0, data.timeline.inference_ns[1] - zero];
  const signals = signalPoints(data);
  const fences = fencePoints(data);
  const lanes = [
    ...tracks.map((t) => t.name),
    ...(fences.length ? ['fences'] : []),
    ...signals.lanes,
  ];
  const arrows = fenceArrows(data, lanes);
  const height = lanes.length * kRow + 100;
  const listeners = new Set();
  const live = h('output', { 'aria-live': 'polite' });
  let shown = [...inference];
  let cursor = null; // {track, slice}

  const opText = (op) =>
    op < 0 ? 'no operator' : `#${op} ${report.ops[op].kind} ${report.ops[op].name}`;
  const sliceText = (t, i) => {
    const track = tracks[t];
    const many = track.commands[i] > 1 ? `${track.commands[i]} commands, ` : '';
    const facts = [
      `${track.name}: ${many}${data.timeline.kinds[track.kind[i]]}`,
      opText(track.op[i]),
      `from ${time(track.from[i])}, for ${time(track.to[i] - track.from[i])}`,
      track.gaps[i] > 0 ? `idle ${time(track.gaps[i])} of it` : '',
      track.bytes[i] ? `${bytes(track.bytes[i])} moved` : '',
      track.macs[i] ? si(track.macs[i], 'MAC') : '',
      track.name.startsWith('npu.') ? `command at byte ${track.command[i]} of the stream` : '',
    ];
    return facts.filter(Boolean);
  };

  function rectangles(c) {
    const out = [];
    tracks.forEach((track, t) => {
      for (const [from, to, op, slice, count] of visible(track, ...shown, 1100)) {
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

  const ink = { text: '', muted: '' };
  const chart = figure({
    label: `Timeline of ${tracks.map((t) => `${t.name} with ${t.commands} commands`).join(', ')}; ${fences.length} fences. Use the keys described above it.`,
    height,
    option: (c) => {
      ink.text = c.text;
      ink.muted = c.muted;
      return {
        grid: { left: 120, right: 20, top: 10, bottom: 76 },
        xAxis: axis(c, {
          type: 'value',
          min: whole[0],
          max: whole[1],
          name: 'from the start of the inference',
          nameLocation: 'middle',
          nameGap: 26,
          axisLabel: { formatter: time },
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
            startValue: shown[0],
            endValue: shown[1],
            zoomOnMouseWheel: 'ctrl',
            moveOnMouseMove: true,
          },
          {
            type: 'slider',
            filterMode: 'none',
            startValue: shown[0],
            endValue: shown[1],
            height: 20,
            bottom: 8,
            labelFormatter: time,
            textStyle: { color: c.text },
          },
        ],
        tooltip: { formatter: (p) => tooltip(p) },
        series: [
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
        ],
      };
    },
  });

  function tooltip(p) {
    if (p.seriesId !== 'slices') return escaped(p.data.text);
    const [from, to, t, slice, count, op] = p.value;
    if (slice >= 0) return sliceText(t, slice).map(escaped).join('<br>');
    return [
      `${tracks[t].name}: ${count} commands, most of the time`,
      opText(op),
      `from ${time(from)}, for ${time(to - from)}`,
    ]
      .map(escaped)
      .join('<br>');
  }

  let waiting = false;
  function refresh() {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      chart.redraw();
    });
  }
  function zoomTo(from, to) {
    const length = Math.min(Math.max(to - from, 1), whole[1] - whole[0]);
    const start = Math.min(Math.max(from, whole[0]), whole[1] - length);
    shown = [start, start + length];
    refresh();
  }
  const scale = (factor) => {
    const middle = cursor ? tracks[cursor.track].from[cursor.slice] : (shown[0] + shown[1]) / 2;
    zoomTo(middle - (middle - shown[0]) * factor, middle + (shown[1] - middle) * factor);
  };
  const pan = (share) =>
    zoomTo(shown[0] + share * (shown[1] - shown[0]), shown[1] + share * (shown[1] - shown[0]));

  function choose(track, slice) {
    cursor = { track, slice };
    const { from, to, op } = tracks[track];
    if (from[slice] < shown[0] || to[slice] > shown[1]) {
      const half = Math.max(shown[1] - shown[0], to[slice] - from[slice]) / 2;
      const middle = (from[slice] + to[slice]) / 2;
      zoomTo(middle - half, middle + half);
    }
    live.textContent = sliceText(track, slice).join(', ');
    for (const listener of listeners) listener(op[slice]);
    refresh();
  }
  function step(by) {
    const track = cursor?.track ?? 0;
    const slice = cursor ? cursor.slice + by : firstAfter(tracks[track], shown[0]);
    choose(track, Math.min(Math.max(slice, 0), tracks[track].count - 1));
  }
  function changeTrack(by) {
    const track = ((cursor?.track ?? -by) + by + tracks.length) % tracks.length;
    const at = cursor ? tracks[cursor.track].from[cursor.slice] : shown[0];
    choose(track, Math.min(firstAfter(tracks[track], at), tracks[track].count - 1));
  }

  const keys = {
    ArrowLeft: () => pan(-0.2),
    ArrowRight: () => pan(0.2),
    '+': () => scale(0.5),
    '=': () => scale(0.5),
    '-': () => scale(2),
    Home: () => zoomTo(...inference),
    End: () => zoomTo(...whole),
    n: () => step(1),
    p: () => step(-1),
    ArrowDown: () => changeTrack(1),
    ArrowUp: () => changeTrack(-1),
  };
  const button = (text, does) => h('button', { type: 'button', click: does }, text);
  const element = h(
    'div',
    {},
    h(
      'p',
      { class: 'muted', id: 'timeline-help' },
      'Colours are operators, grey is work for none. Drag to move, Ctrl and wheel to zoom. Keys: + - zoom, left and right move, Home the inference, End the whole run, up and down choose a unit, n and p its next and previous command.',
    ),
    data.timeline.merged_gap_ns > 0
      ? h(
          'p',
          {},
          `There are too many commands for one page: neighbours of the same operator up to ${time(data.timeline.merged_gap_ns)} apart are drawn as one.`,
        )
      : null,
    data.timeline.dropped > 0
      ? h(
          'p',
          { class: 'problem' },
          `The trace was full: its last ${data.timeline.dropped} entries are missing.`,
        )
      : null,
    h(
      'div',
      { class: 'bar', role: 'group', 'aria-label': 'Timeline view' },
      button('Inference', keys.Home),
      button('Whole run', keys.End),
      button('Zoom in', keys['+']),
      button('Zoom out', keys['-']),
      button('Earlier', keys.ArrowLeft),
      button('Later', keys.ArrowRight),
      button('Previous command', keys.p),
      button('Next command', keys.n),
      button('Next unit', keys.ArrowDown),
    ),
    h(
      'div',
      {
        class: 'keys',
        tabindex: '0',
        role: 'group',
        'aria-label': 'Timeline to move in',
        'aria-describedby': 'timeline-help',
        keydown: (event) => {
          const does = keys[event.key];
          if (!does || event.ctrlKey || event.metaKey || event.altKey) return;
          event.preventDefault();
          does();
        },
      },
      chart.figure,
    ),
    live,
  );

  return {
    element,
    onOperator: (listener) => listeners.add(listener),
    showOperator(op) {
      const row = report.ops[op];
      const margin = Math.max(row.latency_ns * 0.1, 1);
      zoomTo(row.start_ns - margin, row.start_ns + row.latency_ns + margin);
      live.textContent = `${opText(op)}: from ${time(row.start_ns)}, for ${time(row.latency_ns)}`;
    },
    start: () =>
      chart.start((instance) => {
        instance.on('datazoom', () => {
          const { startValue, endValue } = instance.getOption().dataZoom[0];
          if (Math.abs(startValue - shown[0]) + Math.abs(endValue - shown[1]) < 1e-6) return;
          shown = [startValue, endValue];
          if (!waiting)
            requestAnimationFrame(() =>
              instance.setOption({ series: [{ id: 'slices', data: rectangles(colours()) }] }),
            );
        });
        instance.on('click', (p) => {
          if (p.seriesId === 'slices' && p.value[3] >= 0) choose(p.value[2], p.value[3]);
        });
      }),
  };
}
