// SPDX-License-Identifier: Apache-2.0
// One plot: a figure with its title, the reading at the pointer, and the lines of the chosen runs.
import uPlot from 'uplot';
import { el, swatch } from './dom';
import { formatClock, formatValue } from './format';
import { plotData, plotOptions, type Line, type PlotFacts } from './plot_options';
import type { Timeline, TimelinePlot } from './timeline';
import type { SeriesData, ShownRun } from './types';

const HEIGHT = 170;

/** The value that holds at `time`, from the nearest sample; none before the first and after the last. */
function valueAt(series: SeriesData, time: number): number | undefined {
  const { t, v } = series;
  let low = 0;
  let high = t.length - 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((t[middle] ?? 0) <= time) low = middle;
    else high = middle;
  }
  const first = t[0] ?? 0;
  const last = t[t.length - 1] ?? 0;
  const slack = Math.max(0.05, (last - first) * 0.01);
  if (time < first - slack || time > last + slack) return undefined;
  return Math.abs((t[low] ?? 0) - time) <= Math.abs((t[high] ?? 0) - time) ? v[low] : v[high];
}

function extent(series: SeriesData): string {
  let low = Infinity;
  let high = -Infinity;
  for (const value of series.v) {
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  const [lowest, ...unit] = formatValue(low, series.unit).split(' ');
  const highest = formatValue(high, series.unit);
  const sameUnit = unit.length === 0 || highest.endsWith(` ${unit.join(' ')}`);
  if (low === high) return highest;
  return `${sameUnit ? lowest : formatValue(low, series.unit)} to ${highest}`;
}

export class SeriesPlot implements TimelinePlot {
  readonly figure: HTMLElement;
  private readonly readings = el('div', { class: 'readings' });
  private readonly canvas: HTMLElement;
  private readonly tip = el('div', { class: 'tip', hidden: '' });
  private plot: uPlot | undefined;
  private lines: Line[] = [];
  private width = 0;

  constructor(
    private readonly byRun: Map<ShownRun, SeriesData>,
    private readonly timeline: Timeline,
    private readonly announce: (text: string) => void,
  ) {
    const any = this.any();
    const labels = any.labels.map(([key, value]) => `${key} ${value}`).join(', ');
    this.canvas = el('div', { class: 'canvas', tabindex: '0', role: 'img', 'aria-label': this.describe(any) });
    this.figure = el('figure', { class: 'plot', 'data-series': any.name },
      el('figcaption', { title: [any.help, `Measured by: ${any.source}`].filter(Boolean).join('\n') },
        el('h4', {}, any.title, labels !== '' && el('span', { class: 'muted' }, ` ${labels}`)), this.readings),
      this.canvas);
    this.canvas.append(this.tip);
    this.canvas.addEventListener('keydown', (event) => this.key(event));
    this.canvas.addEventListener('dblclick', () => timeline.reset());
    new ResizeObserver(() => this.fit()).observe(this.canvas);
    timeline.add(this);
  }

  /** Draws the chosen runs anew, in the page's present colours. */
  show(runs: ShownRun[]): void {
    this.plot?.destroy();
    this.plot = undefined;
    this.lines = runs.flatMap((r) => {
      const series = this.byRun.get(r);
      return series === undefined ? [] : [{ color: r.color, series }];
    });
    this.figure.hidden = this.lines.length === 0;
    this.momentChanged(undefined, false);
    if (this.lines.length === 0) return;
    const width = this.canvas.clientWidth;
    this.width = width;
    this.plot = new uPlot(plotOptions(this.facts(runs), Math.max(200, width), HEIGHT, {
      setCursor: [(u) => this.cursorMoved(u)],
      setSelect: [(u) => this.selected(u)],
    }), plotData(this.lines), this.canvas);
    this.plot.over.addEventListener('mouseleave', () => this.timeline.point(undefined));
    this.plot.over.addEventListener('pointermove', (event) => this.touched(event));
  }

  rangeChanged(): void {
    const [min, max] = this.timeline.range();
    this.plot?.setScale('x', { min, max });
  }

  momentChanged(time: number | undefined, pointed: boolean): void {
    this.readings.replaceChildren(...this.lines.map(({ color, series }) => {
      const text = time === undefined ? extent(series) : formatValue(valueAt(series, time), series.unit);
      return el('span', { class: time === undefined ? 'reading muted' : 'reading' }, this.lines.length > 1 && swatch(color), text);
    }));
    this.moveTip(time, pointed);
    if (this.plot === undefined || pointed) return;
    const left = time === undefined ? -10 : this.plot.valToPos(time, 'x');
    this.plot.setCursor({ left, top: -10 }, false);
  }

  private any(): SeriesData {
    for (const series of this.byRun.values()) return series;
    throw new Error('a plot needs a series');
  }

  private describe(any: SeriesData): string {
    const parts = [...this.byRun].map(([shown, series]) => `${shown.words.label} ${extent(series)}`);
    return `${any.title} over time: ${parts.join('; ')}. Arrow keys read values, plus and minus zoom.`;
  }

  private facts(runs: ShownRun[]): PlotFacts {
    const any = this.any();
    const shown = runs.filter((r) => this.byRun.has(r));
    const bounds = shown.flatMap((r) => r.run.target.goals.filter((g) => g.metric === any.name && any.scope === 'app').map((g) => g.bound));
    return {
      lines: this.lines,
      unit: any.unit,
      bounds: [...new Set(bounds)],
      warmup: Math.max(0, ...shown.map((r) => r.run.target.warmup_seconds)),
      range: () => this.timeline.range(),
    };
  }

  private cursorMoved(u: uPlot): void {
    // Only a pointer on this very plot moves the others; what they are told comes without an event.
    if (u.cursor.event === undefined || u.cursor.event === null) return;
    const left = u.cursor.left ?? -1;
    this.timeline.point(left < 0 ? undefined : u.posToVal(left, 'x'), this);
  }

  private selected(u: uPlot): void {
    const { left, width } = u.select;
    if (width < 4) return;
    const from = u.posToVal(left, 'x');
    const to = u.posToVal(left + width, 'x');
    u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    this.timeline.zoom(from, to);
  }

  private touched(event: PointerEvent): void {
    if (event.pointerType !== 'touch' || this.plot === undefined) return;
    const left = event.clientX - this.plot.over.getBoundingClientRect().left;
    this.plot.setCursor({ left, top: 10 }, false);
    this.timeline.point(this.plot.posToVal(left, 'x'), this);
  }

  private key(event: KeyboardEvent): void {
    const u = this.plot;
    if (u === undefined) return;
    const [low, high] = this.timeline.range();
    const left = u.cursor.left ?? -1;
    const now = left >= 0 ? u.posToVal(left, 'x') : (low + high) / 2;
    const step = (high - low) / (event.shiftKey ? 10 : 100);
    const move = (time: number): void => {
      const inside = Math.max(low, Math.min(high, time));
      u.setCursor({ left: u.valToPos(inside, 'x'), top: 10 }, false);
      this.timeline.point(inside, this);
      this.announce(`${formatClock(inside, step)}: ${this.readings.innerText}`);
    };
    if (event.key === 'ArrowLeft') move(now - step);
    else if (event.key === 'ArrowRight') move(now + step);
    else if (event.key === '+') this.timeline.zoomBy(2, now);
    else if (event.key === '-') this.timeline.zoomBy(0.5, now);
    else if (event.key === 'Escape' || event.key === '0') this.timeline.reset();
    else return;
    event.preventDefault();
  }

  private moveTip(time: number | undefined, pointed: boolean): void {
    this.tip.hidden = !pointed || time === undefined || this.plot === undefined;
    if (this.tip.hidden || time === undefined || this.plot === undefined) return;
    const [low, high] = this.timeline.range();
    this.tip.replaceChildren(el('span', { class: 'muted' }, formatClock(time, (high - low) / 200)),
      ...this.lines.map(({ color, series }) => el('span', {}, this.lines.length > 1 && swatch(color), formatValue(valueAt(series, time), series.unit))));
    const x = this.plot.over.offsetLeft + this.plot.valToPos(time, 'x');
    const right = x > this.canvas.clientWidth - 130;
    this.tip.style.left = `${x}px`;
    this.tip.style.transform = right ? 'translateX(calc(-100% - 10px))' : 'translateX(10px)';
  }

  private fit(): void {
    const width = this.canvas.clientWidth;
    if (this.plot === undefined || width === this.width || width === 0) return;
    this.width = width;
    this.plot.setSize({ width, height: HEIGHT });
  }
}
