import { bytes, si, time } from '../lib/format.js';

/** What is said of operators and of slices of the timeline's tracks. */
export function texts(data, tracks) {
  const { ops } = data.report;
  const opText = (op) => (op < 0 ? 'no operator' : `#${op} ${ops[op].kind} ${ops[op].name}`);
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
  /** Of several slices that are drawn as one. */
  const manyText = (t, count, op, from, to) => [
    `${tracks[t].name}: ${count} commands, most of the time`,
    opText(op),
    `from ${time(from)}, for ${time(to - from)}`,
  ];
  return { opText, sliceText, manyText };
}
