import { h } from './dom.js';

const listeners = new Set();
const system = window.matchMedia('(prefers-color-scheme: dark)');
let chosen = null;

export function dark() {
  return chosen ?? system.matches;
}

function apply() {
  document.documentElement.dataset.theme = dark() ? 'dark' : 'light';
  for (const listener of listeners) listener();
}

/** Calls `listener` whenever light and dark change. */
export function onTheme(listener) {
  listeners.add(listener);
}

/** Colours of charts. Series colours: Okabe and Ito's palette, told apart with all common kinds of colour blindness. */
export function colours() {
  const style = getComputedStyle(document.documentElement);
  const get = (name) => style.getPropertyValue(name).trim();
  return {
    back: get('--panel'),
    text: get('--text'),
    muted: get('--muted'),
    line: get('--line'),
    grid: get('--grid'),
    accent: get('--accent'),
    idle: dark() ? '#8993a3' : '#9aa4b2',
    series: dark()
      ? ['#56b4e9', '#e69f00', '#2fc79a', '#f0e442', '#d991bd', '#ff8a4c', '#6ea8ff', '#b7c0cc']
      : ['#0072b2', '#d98200', '#009e73', '#b59f00', '#b3588f', '#d55e00', '#3f6fd1', '#5a6472'],
  };
}

export function themeButton() {
  const button = h('button', {
    id: 'theme',
    type: 'button',
    click: () => {
      chosen = !dark();
      apply();
    },
  });
  const show = () => {
    button.textContent = 'Dark';
    button.setAttribute('aria-pressed', String(dark()));
  };
  onTheme(show);
  show();
  return button;
}

system.addEventListener('change', apply);
apply();
