import { h } from '../lib/dom.js';
import { time } from '../lib/format.js';
import { colours } from '../lib/theme.js';
import { texts } from './slice_text.js';
import { firstAfter, tracksOf } from './slices.js';
import { timelineChart } from './timeline_chart.js';
import { timelineControls } from './timeline_controls.js';

/** All engines over time, zoomable by mouse and keyboard. */
export function timeline(data) {
  const { report } = data;
  const tracks = tracksOf(data);
  const say = texts(data, tracks);
  const zero = data.timeline.inference_ns[0];
  const whole = [-zero, data.timeline.end_ns - zero];
  const inference = [0, data.timeline.inference_ns[1] - zero];
  const view = { shown: [...inference], cursor: null };
  const chart = timelineChart(data, tracks, { whole, view, say });
  const listeners = new Set();
  const live = h('output', { 'aria-live': 'polite' });

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
    view.shown = [start, start + length];
    refresh();
  }
  function scale(factor) {
    const { shown, cursor } = view;
    const middle = cursor ? tracks[cursor.track].from[cursor.slice] : (shown[0] + shown[1]) / 2;
    zoomTo(middle - (middle - shown[0]) * factor, middle + (shown[1] - middle) * factor);
  }
  function pan(share) {
    const by = share * (view.shown[1] - view.shown[0]);
    zoomTo(view.shown[0] + by, view.shown[1] + by);
  }

  function choose(track, slice) {
    view.cursor = { track, slice };
    const { from, to, op } = tracks[track];
    if (from[slice] < view.shown[0] || to[slice] > view.shown[1]) {
      const half = Math.max(view.shown[1] - view.shown[0], to[slice] - from[slice]) / 2;
      const middle = (from[slice] + to[slice]) / 2;
      zoomTo(middle - half, middle + half);
    }
    live.textContent = say.sliceText(track, slice).join(', ');
    for (const listener of listeners) listener(op[slice]);
    refresh();
  }
  function step(by) {
    const track = view.cursor?.track ?? 0;
    const slice = view.cursor ? view.cursor.slice + by : firstAfter(tracks[track], view.shown[0]);
    choose(track, Math.min(Math.max(slice, 0), tracks[track].count - 1));
  }
  function changeTrack(by) {
    const { cursor } = view;
    const track = ((cursor?.track ?? -by) + by + tracks.length) % tracks.length;
    const at = cursor ? tracks[cursor.track].from[cursor.slice] : view.shown[0];
    choose(track, Math.min(firstAfter(tracks[track], at), tracks[track].count - 1));
  }

  const does = {
    inference: () => zoomTo(...inference),
    whole: () => zoomTo(...whole),
    scale,
    pan,
    step,
    changeTrack,
  };
  return {
    element: h('div', {}, ...timelineControls(data.timeline, does, chart.figure), live),
    onOperator: (listener) => listeners.add(listener),
    showOperator(op) {
      const row = report.ops[op];
      const margin = Math.max(row.latency_ns * 0.1, 1);
      zoomTo(row.start_ns - margin, row.start_ns + row.latency_ns + margin);
      live.textContent = `${say.opText(op)}: from ${time(row.start_ns)}, for ${time(row.latency_ns)}`;
    },
    start: () =>
      chart.start((instance) => {
        instance.on('datazoom', () => {
          const { startValue, endValue } = instance.getOption().dataZoom[0];
          const moved =
            Math.abs(startValue - view.shown[0]) + Math.abs(endValue - view.shown[1]) >= 1e-6;
          if (!moved) return;
          view.shown = [startValue, endValue];
          if (!waiting) requestAnimationFrame(() => chart.redrawSlices(colours()));
        });
        instance.on('click', (p) => {
          if (p.seriesId === 'slices' && p.value[3] >= 0) choose(p.value[2], p.value[3]);
        });
      }),
  };
}
