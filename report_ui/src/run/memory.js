import { axis, echarts, figure } from '../lib/chart.js';
import { choice, h } from '../lib/dom.js';
import { bytes, escaped, time } from '../lib/format.js';
import { table } from '../lib/table.js';
import { timeAxis, timeSlider } from '../lib/time_axis.js';

/** What each region of memory held, from first write to last read, as the transfers show it. */
export function memoryMap(data) {
  const { regions, spans } = data.memory;
  const zero = data.timeline.inference_ns[0];
  const used = regions.filter((r) => spans.some((s) => s[0] === r.region));
  const rows = spans.map(([region, op, what, from, to, offset, size]) => ({
    region,
    op,
    what,
    from: from - zero,
    to: to - zero,
    offset,
    size,
  }));
  const ofOperator = (op) => `#${op} ${data.report.ops[op].kind} ${data.report.ops[op].name}`;
  const textOf = (row) =>
    row.op < 0
      ? row.what || 'host'
      : row.what
        ? `${row.what} of ${ofOperator(row.op)}`
        : ofOperator(row.op);
  if (!used.length)
    return { element: h('p', {}, 'No region but the constants was used.'), start: () => {} };
  let region = used[0].region;
  const here = () => rows.filter((row) => row.region === region);
  const sizeOf = () => regions.find((r) => r.region === region).bytes;
  const chart = figure({
    label: `Memory map over time: ${used.map((r) => `${r.name} in ${r.memory}, ${bytes(r.bytes)}`).join('; ')}. The table below has every span.`,
    height: 340,
    option: (c) => ({
      grid: { left: 100, right: 20, top: 12, bottom: 70 },
      xAxis: timeAxis(c, 0, data.timeline.inference_ns[1] - zero),
      yAxis: axis(c, {
        type: 'value',
        min: 0,
        max: sizeOf(),
        interval: 2 ** Math.ceil(Math.log2(sizeOf() / 6)),
        axisLabel: { formatter: bytes },
      }),
      dataZoom: [timeSlider(c)],
      tooltip: {
        formatter: (p) => {
          const row = p.data.row;
          return [
            textOf(row),
            `bytes ${row.offset} to ${row.offset + row.size} (${bytes(row.size)})`,
            `from ${time(row.from)} to ${time(row.to)}`,
          ]
            .map(escaped)
            .join('<br>');
        },
      },
      series: [
        {
          type: 'custom',
          encode: { x: [0, 1], y: [2, 3] },
          clip: true,
          data: here().map((row) => ({
            value: [row.from, row.to, row.offset, row.offset + row.size],
            row,
            itemStyle: { color: row.op < 0 ? c.idle : c.series[row.op % c.series.length] },
          })),
          renderItem: (params, api) => {
            const low = api.coord([api.value(0), api.value(2)]);
            const high = api.coord([api.value(1), api.value(3)]);
            const shape = echarts.graphic.clipRectByRect(
              {
                x: low[0],
                y: high[1],
                width: Math.max(high[0] - low[0], 1),
                height: Math.max(low[1] - high[1], 1),
              },
              params.coordSys,
            );
            return (
              shape && {
                type: 'rect',
                shape,
                style: { fill: api.visual('color'), stroke: c.back, lineWidth: 0.6, opacity: 0.85 },
              }
            );
          },
        },
      ],
    }),
  });
  const list = choice(
    'region',
    used.map((r) => [String(r.region), `${r.name}, ${bytes(r.bytes)} in ${r.memory}`]),
    (value) => {
      region = Number(value);
      chart.redraw();
    },
  );
  const nameOf = (r) => regions.find((one) => one.region === r).name;
  const all = table({
    label: 'What memory held',
    rows,
    page: 100,
    columns: [
      { name: 'region', words: true, value: (r) => nameOf(r.region) },
      { name: 'holds', words: true, long: true, value: textOf },
      { name: 'offset', value: (r) => r.offset },
      { name: 'bytes', value: (r) => r.size },
      { name: 'from', value: (r) => r.from, text: (r) => time(r.from) },
      { name: 'to', value: (r) => r.to, text: (r) => time(r.to) },
    ],
  });
  const constants = regions.find((r) => r.region === 0);
  return {
    element: h(
      'div',
      {},
      h(
        'p',
        { class: 'muted' },
        `Seen in the transfers: from the first byte written to the last one read.${constants ? ` ${bytes(constants.bytes)} of constants lie in ${constants.memory} all the time.` : ''}`,
      ),
      h('div', { class: 'bar' }, list),
      chart.figure,
      h('details', {}, h('summary', {}, 'As a table'), all.element),
    ),
    start: () => chart.start(),
  };
}
