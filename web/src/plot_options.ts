// SPDX-License-Identifier: Apache-2.0
// How a plot looks: uPlot's options from our data and the page's colours.
import uPlot from 'uplot';
import { formatClock, formatTick } from './format';
import type { Range } from './timeline';
import type { SeriesData } from './types';

export interface Line {
  color: string;
  series: SeriesData;
}

export interface PlotFacts {
  lines: Line[];
  unit: string;
  /** Values that goals ask for: drawn as dashed lines. */
  bounds: number[];
  /** Seconds at the start that the statistics leave out: drawn shaded. */
  warmup: number;
  range: () => Range;
}

function css(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

function faded(hex: string, alpha: number): string {
  const n = Number.parseInt(hex.slice(1), 16);
  return `rgba(${n >> 16}, ${(n >> 8) & 255}, ${n & 255}, ${alpha})`;
}

/** From zero, so that heights compare; but temperatures and clocks live far from it. */
function valueRange(facts: PlotFacts, low: number | null, high: number | null): [number, number] {
  const values = [low ?? 0, high ?? 0, ...facts.bounds];
  let min = Math.min(...values);
  let max = Math.max(...values);
  if (facts.unit === 'celsius' || facts.unit === 'hertz') {
    const room = (max - min) * 0.2 || Math.abs(max) * 0.05 || 1;
    return [min - room, max + room];
  }
  min = Math.min(0, min);
  max = Math.max(0, max);
  const nothing = facts.unit.startsWith('bytes') ? 1e6 : 1;
  const room = (max - min) * 0.12 || nothing;
  return [min < 0 ? min - room : 0, max > 0 || min === 0 ? max + room : 0];
}

function drawWarmup(u: uPlot, facts: PlotFacts): void {
  if (facts.warmup <= 0) return;
  const from = Math.max(u.bbox.left, u.valToPos(0, 'x', true));
  const to = Math.min(u.bbox.left + u.bbox.width, u.valToPos(facts.warmup, 'x', true));
  if (to <= from) return;
  u.ctx.fillStyle = css('--shade');
  u.ctx.fillRect(from, u.bbox.top, to - from, u.bbox.height);
}

function drawBounds(u: uPlot, facts: PlotFacts): void {
  for (const bound of facts.bounds) {
    const y = u.valToPos(bound, 'y', true);
    u.ctx.save();
    u.ctx.strokeStyle = css('--muted');
    u.ctx.lineWidth = devicePixelRatio;
    u.ctx.setLineDash([5 * devicePixelRatio, 4 * devicePixelRatio]);
    u.ctx.beginPath();
    u.ctx.moveTo(u.bbox.left, y);
    u.ctx.lineTo(u.bbox.left + u.bbox.width, y);
    u.ctx.stroke();
    u.ctx.restore();
  }
}

function axes(facts: PlotFacts): uPlot.Axis[] {
  const common = {
    stroke: css('--muted'),
    font: `11px ${css('--font')}`,
    ticks: { show: false },
    border: { show: false },
  };
  return [
    {
      ...common,
      grid: { show: false },
      size: 24,
      gap: 4,
      space: 70,
      values: (_u, splits, _axis, _space, step) => splits.map((s) => formatClock(s, step)),
    },
    {
      ...common,
      grid: { stroke: css('--grid'), width: 1 },
      size: 68,
      gap: 6,
      space: 34,
      values: (_u, splits) => splits.map((s) => formatTick(s, facts.unit)),
    },
  ];
}

function lineOptions(line: Line, alone: boolean): uPlot.Series {
  const sparse = line.series.kind === 'event' || line.series.t.length < 3;
  const color = css(line.color);
  return {
    stroke: color,
    width: 1.5,
    ...(alone ? { fill: faded(color, 0.1) } : {}),
    points: sparse ? { size: 4, fill: color } : { show: false },
  };
}

export function plotData(lines: Line[]): uPlot.AlignedData {
  const tables = lines.map((l): uPlot.AlignedData => [l.series.t, l.series.v]);
  return tables.length === 1 && tables[0] !== undefined ? tables[0] : uPlot.join(tables);
}

export function plotOptions(facts: PlotFacts, width: number, height: number, hooks: uPlot.Hooks.Arrays): uPlot.Options {
  return {
    width,
    height,
    legend: { show: false },
    padding: [8, 8, 0, 0],
    cursor: {
      y: false,
      points: { show: false },
      drag: { x: true, y: false, setScale: false },
      bind: { dblclick: () => () => null },
    },
    scales: {
      x: { time: false, range: () => [...facts.range()] as [number, number] },
      y: { range: (_u, low, high) => valueRange(facts, low, high) },
    },
    axes: axes(facts),
    series: [{}, ...facts.lines.map((l) => lineOptions(l, facts.lines.length === 1))],
    hooks: {
      ...hooks,
      drawClear: [(u) => drawWarmup(u, facts)],
      draw: [(u) => drawBounds(u, facts)],
    },
  };
}
