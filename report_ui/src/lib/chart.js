import { BarChart, CustomChart, LineChart, ParallelChart, ScatterChart } from 'echarts/charts';
import {
  BrushComponent,
  DataZoomComponent,
  GridComponent,
  LegendComponent,
  MarkLineComponent,
  ParallelComponent,
  TooltipComponent,
} from 'echarts/components';
import * as echarts from 'echarts/core';
import { CanvasRenderer } from 'echarts/renderers';
import { h } from './dom.js';
import { colours, onTheme } from './theme.js';

echarts.use([
  BarChart,
  CustomChart,
  LineChart,
  ParallelChart,
  ScatterChart,
  BrushComponent,
  DataZoomComponent,
  GridComponent,
  LegendComponent,
  MarkLineComponent,
  ParallelComponent,
  TooltipComponent,
  CanvasRenderer,
]);

/** What all charts share. */
function base(c) {
  return {
    animation: false,
    backgroundColor: 'transparent',
    color: c.series,
    textStyle: { color: c.text, fontFamily: 'inherit' },
    tooltip: {
      backgroundColor: c.back,
      borderColor: c.line,
      textStyle: { color: c.text },
      confine: true,
    },
  };
}

/** Colours of an axis. */
export function axis(c, more = {}) {
  return {
    nameTextStyle: { color: c.muted },
    axisLabel: { color: c.text, ...more.axisLabel },
    axisLine: { show: true, lineStyle: { color: c.line } },
    axisTick: { lineStyle: { color: c.line } },
    splitLine: { show: true, lineStyle: { color: c.grid } },
    ...Object.fromEntries(Object.entries(more).filter(([name]) => name !== 'axisLabel')),
  };
}

export function legend(c, more = {}) {
  return {
    textStyle: { color: c.text },
    inactiveColor: c.muted,
    pageTextStyle: { color: c.text },
    type: 'scroll',
    top: 0,
    ...more,
  };
}

/**
 * A chart as a figure. `option(colours)` makes its option, again when the theme changes; `label` is what a screen reader says of it.
 * Returns {figure, element, instance, start(), redraw()}.
 */
export function figure({ label, caption, height, option }) {
  const element = h('div', {
    class: 'chart',
    role: 'img',
    'aria-label': label,
    style: `height:${height}px`,
  });
  const out = {
    figure: h('figure', {}, caption ? h('figcaption', {}, caption) : null, element),
    element,
    instance: null,
    /** Draws it when it comes near the window, or is printed; then calls `then(instance)`. */
    start(then = () => {}) {
      const draw = () => {
        near.disconnect();
        if (out.instance) return;
        out.instance = echarts.init(element, null, { renderer: 'canvas' });
        out.redraw();
        let width = element.clientWidth;
        new ResizeObserver(() => {
          if (element.clientWidth === width) return;
          width = element.clientWidth;
          out.instance.resize();
        }).observe(element);
        onTheme(out.redraw);
        then(out.instance);
      };
      const near = new IntersectionObserver(
        (seen) => seen.some((one) => one.isIntersecting) && draw(),
        { rootMargin: '50px' },
      );
      near.observe(element);
      window.addEventListener('beforeprint', draw);
    },
    redraw() {
      if (!out.instance) return;
      const c = colours();
      const all = { ...base(c), ...option(c) };
      all.tooltip = { ...base(c).tooltip, ...option(c).tooltip };
      out.instance.setOption(all, { notMerge: true });
    },
  };
  return out;
}

export { echarts };
