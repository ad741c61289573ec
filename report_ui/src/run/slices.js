import { unpack } from '../lib/packed.js';

const kNumbers = 9;

/** Tracks with columns of numbers; times in ns from the start of the inference. */
export function tracksOf(data) {
  const zero = data.timeline.inference_ns[0];
  return data.timeline.tracks.map((track) => {
    const numbers = unpack(track.data);
    const n = track.slices;
    const columns = {
      from: new Float64Array(n),
      to: new Float64Array(n),
      kind: [],
      op: [],
      bytes: [],
      macs: [],
      command: [],
      commands: [],
      gaps: [],
    };
    let now = 0;
    for (let i = 0, at = 0; i < n; ++i, at += kNumbers) {
      now += numbers[at];
      columns.from[i] = now / 1000 - zero;
      now += numbers[at + 1];
      columns.to[i] = now / 1000 - zero;
      columns.kind.push(numbers[at + 2]);
      columns.op.push(numbers[at + 3] - 1);
      columns.bytes.push(numbers[at + 4]);
      columns.macs.push(numbers[at + 5]);
      columns.command.push(numbers[at + 6]);
      columns.commands.push(numbers[at + 7]);
      columns.gaps.push(numbers[at + 8] / 1000);
    }
    return { name: track.name, count: n, commands: track.commands, ...columns };
  });
}

/** The first slice that ends after `ns`. */
export function firstAfter(track, ns) {
  let low = 0;
  let high = track.count;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (track.to[middle] > ns) high = middle;
    else low = middle + 1;
  }
  return low;
}

/**
 * What to draw of a track between `from` and `to` on `pixels`: [from, to, op, slice or -1, slices]. Slices narrower than a pixel that follow
 * closely are drawn as one, in the colour of the operator that has most of it.
 */
export function visible(track, from, to, pixels) {
  const least = (to - from) / pixels;
  const out = [];
  let block = null;
  const close = () => {
    if (!block) return;
    let best = -1;
    for (const [op, ns] of block.ops) if (best === -1 || ns > block.ops.get(best)) best = op;
    out.push([
      block.from,
      block.to,
      block.count === 1 ? track.op[block.first] : best,
      block.count === 1 ? block.first : -1,
      block.count,
    ]);
    block = null;
  };
  for (let i = firstAfter(track, from); i < track.count && track.from[i] < to; ++i) {
    const narrow = track.to[i] - track.from[i] < least;
    if (!narrow) {
      close();
      out.push([track.from[i], track.to[i], track.op[i], i, 1]);
      continue;
    }
    if (block && (track.from[i] - block.to > least || block.to - block.from > 4 * least)) close();
    block ??= { from: track.from[i], to: track.to[i], first: i, count: 0, ops: new Map() };
    block.to = track.to[i];
    ++block.count;
    block.ops.set(track.op[i], (block.ops.get(track.op[i]) ?? 0) + track.to[i] - track.from[i]);
  }
  close();
  return out;
}
