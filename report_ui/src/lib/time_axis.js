import { axis } from './chart.js';
import { time } from './format.js';

/** A horizontal axis of nanoseconds. */
export const timeAxis = (c, from, to, more = {}) =>
  axis(c, {
    type: 'value',
    min: from,
    max: to,
    axisLabel: { formatter: time, hideOverlap: true },
    ...more,
  });

/** The slider below a chart over time. */
export const timeSlider = (c, more = {}) => ({
  type: 'slider',
  filterMode: 'none',
  height: 18,
  bottom: 6,
  labelFormatter: time,
  textStyle: { color: c.text },
  ...more,
});
