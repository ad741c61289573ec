import { h } from '../lib/dom.js';
import { time } from '../lib/format.js';

const kHelp =
  'Colours are operators, grey is work for none. Drag to move, Ctrl and wheel to zoom. Keys: + - zoom, left and right move, Home the inference, End the whole run, up and down choose a unit, n and p its next and previous command.';

/** What a timeline should say of what it does not have. */
const notes = ({ merged_gap_ns: gap, dropped }) => [
  gap > 0
    ? h(
        'p',
        {},
        `There are too many commands for one page: neighbours of the same operator up to ${time(gap)} apart are drawn as one.`,
      )
    : null,
  dropped > 0
    ? h(
        'p',
        { class: 'problem' },
        `The trace was full: its last ${dropped} entries are missing.`,
      )
    : null,
];

/** Help, buttons and keys around `figure`. `does` has what they do: inference, whole, scale, pan, step, changeTrack. */
export function timelineControls(timeline, does, figure) {
  const keys = {
    ArrowLeft: () => does.pan(-0.2),
    ArrowRight: () => does.pan(0.2),
    '+': () => does.scale(0.5),
    '=': () => does.scale(0.5),
    '-': () => does.scale(2),
    Home: does.inference,
    End: does.whole,
    n: () => does.step(1),
    p: () => does.step(-1),
    ArrowDown: () => does.changeTrack(1),
    ArrowUp: () => does.changeTrack(-1),
  };
  const button = (text, key) => h('button', { type: 'button', click: keys[key] }, text);
  return [
    h('p', { class: 'muted', id: 'timeline-help' }, kHelp),
    ...notes(timeline),
    h(
      'div',
      { class: 'bar', role: 'group', 'aria-label': 'Timeline view' },
      button('Inference', 'Home'),
      button('Whole run', 'End'),
      button('Zoom in', '+'),
      button('Zoom out', '-'),
      button('Earlier', 'ArrowLeft'),
      button('Later', 'ArrowRight'),
      button('Previous command', 'p'),
      button('Next command', 'n'),
      button('Next unit', 'ArrowDown'),
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
          const act = keys[event.key];
          if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
          event.preventDefault();
          act();
        },
      },
      figure,
    ),
  ];
}
