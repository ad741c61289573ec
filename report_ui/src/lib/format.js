const kSteps = [
  ['G', 1e9],
  ['M', 1e6],
  ['k', 1e3],
  ['', 1],
  ['m', 1e-3],
  ['µ', 1e-6],
  ['n', 1e-9],
  ['p', 1e-12],
];

/** Three or four significant digits with an SI prefix. */
export function si(value, unit = '') {
  if (value === null || value === undefined || Number.isNaN(value)) return '-';
  if (value === 0) return `0 ${unit}`.trim();
  const size = Math.abs(value);
  const [prefix, step] = kSteps.find(([, s]) => size >= s * 0.9995) ?? kSteps.at(-1);
  const scaled = value / step;
  const digits = Math.abs(scaled) >= 100 ? 1 : Math.abs(scaled) >= 10 ? 2 : 3;
  return `${Number.isInteger(scaled) ? scaled : scaled.toFixed(digits)} ${prefix}${unit}`.trim();
}

export const time = (ns) => si(ns * 1e-9, 's');
export const energy = (nj) => si(nj * 1e-9, 'J');
export const power = (mw) => si(mw * 1e-3, 'W');
export const percent = (share) => `${(100 * share).toFixed(1)} %`;

/** Bytes in KiB and MiB. */
export function bytes(count) {
  const short = (value) => (Number.isInteger(value) ? value : value.toFixed(2));
  if (count < 1024) return `${Math.round(count)} B`;
  if (count < 1024 * 1024) return `${short(count / 1024)} KiB`;
  return `${short(count / 1024 / 1024)} MiB`;
}

/** Text for HTML that a library makes of it. */
export function escaped(text) {
  return String(text).replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);
}

const kUnits = {
  ns: [1e-9, 's'],
  nJ: [1e-9, 'J'],
  mW: [1e-3, 'W'],
  'nJ*us': [1e-15, 'J s'],
  um2: [1e-6, 'mm²'],
};

/** A value of a metric by its unit's name, as `deputy list` has them. */
export function quantity(value, unit) {
  if (value === null || value === undefined) return '-';
  if (unit === 'bytes') return bytes(value);
  const [factor, shown] = kUnits[unit] ?? [1, unit];
  return unit === 'um2' ? `${(value * factor).toPrecision(4)} ${shown}` : si(value * factor, shown);
}
