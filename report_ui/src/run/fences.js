import { time } from '../lib/format.js';

const nameOf = (data, track) => (track < 0 ? 'host' : data.timeline.tracks[track].name);

/** Points reached on timelines. */
export function fencePoints(data) {
  const zero = data.timeline.inference_ns[0];
  return data.timeline.fences
    .filter(([, , , , signalled]) => signalled)
    .map(([at, timeline, value, track]) => ({
      at: at - zero,
      text: `${nameOf(data, track)} signals ${value} on timeline ${timeline} at ${time(at - zero)}`,
    }));
}

/** From who signalled to the fence, and on to who waited for it: [ns, lane, ns, lane]. */
export function fenceArrows(data, lanes) {
  const zero = data.timeline.inference_ns[0];
  const lane = lanes.indexOf('fences');
  const out = [];
  const signals = data.timeline.fences.filter((f) => f[4]);
  for (const [at, timeline, value, track, signalled] of data.timeline.fences) {
    const own = lanes.indexOf(nameOf(data, track));
    if (own < 0 || lane < 0) continue;
    if (signalled) {
      out.push([at - zero, own, at - zero, lane]);
      continue;
    }
    const cause = signals.find((s) => s[1] === timeline && s[2] >= value);
    if (cause) out.push([cause[0] - zero, lane, at - zero, own]);
  }
  return out;
}

/** Interrupts and doorbells: lanes and points on them. */
export function signalPoints(data) {
  const zero = data.timeline.inference_ns[0];
  const lanes = [];
  const points = [];
  for (const [lane, test, text] of [
    ['interrupts', (n) => n.startsWith('irq.'), 'interrupt line rises'],
    ['doorbells', (n) => n.endsWith('.doorbell'), 'rings'],
  ]) {
    const mine = data.timeline.signals.filter((s) => test(s.name) && s.at_ns.length);
    if (!mine.length) continue;
    lanes.push(lane);
    for (const signal of mine)
      for (const at of signal.at_ns)
        points.push({
          value: [at - zero, lane],
          text: `${signal.name.replace('irq.', '')}: ${text} at ${time(at - zero)}`,
        });
  }
  return { lanes, points };
}
