// SPDX-License-Identifier: Apache-2.0
// The plots' section: choose runs, zoom, and groups of plots that are drawn when first opened.
import { el, section, swatch } from './dom';
import { formatClock } from './format';
import { groupSeries, type PlotGroup } from './groups';
import { SeriesPlot } from './plot';
import { Timeline, type Range } from './timeline';
import type { ShownRun } from './types';

function timeSpan(runs: ShownRun[]): Range {
  let from = 0;
  let to = 0;
  for (const { t } of runs.flatMap((r) => r.series)) {
    from = Math.min(from, t[0] ?? 0);
    to = Math.max(to, t[t.length - 1] ?? 0);
  }
  return [from, to > from ? to : from + 1];
}

class PlotsSection {
  readonly element: HTMLElement;
  private readonly chosen: Set<ShownRun>;
  private readonly drawn: SeriesPlot[] = [];
  private readonly status = el('span', { class: 'visually-hidden', 'aria-live': 'polite' });
  private readonly hint = el('span', { class: 'hint muted' });
  private readonly resetButton = el('button', { type: 'button', class: 'reset', hidden: '' }, 'Show all');
  private readonly timeline: Timeline;
  private readonly folds: HTMLDetailsElement[] = [];

  constructor(private readonly runs: ShownRun[], groups: PlotGroup[]) {
    this.chosen = new Set(runs);
    this.timeline = new Timeline(timeSpan(runs), (zoomed) => this.zoomed(zoomed));
    this.resetButton.addEventListener('click', () => this.timeline.reset());
    this.zoomed(undefined);
    const parts = groups.map((g) => (g.open ? this.openGroup(g) : this.foldedGroup(g)));
    this.element = section('plots', 'Over time', this.toolbar(), this.status, ...parts);
  }

  redraw(): void {
    for (const plot of this.drawn) plot.show(this.selected());
  }

  private selected(): ShownRun[] {
    return this.runs.filter((r) => this.chosen.has(r));
  }

  private toolbar(): HTMLElement {
    const bar = el('div', { class: 'toolbar' });
    if (this.runs.length > 1) {
      bar.append(el('div', { class: 'chips', role: 'group', 'aria-label': 'Runs to show' }, ...this.runs.map((r) => this.chip(r))));
    }
    bar.append(this.hint, this.resetButton);
    if (this.folds.length > 0) {
      const all = el('button', { type: 'button', class: 'open-all' }, 'Open all plots');
      all.addEventListener('click', () => {
        const open = this.folds.some((f) => !f.open);
        for (const fold of this.folds) fold.open = open;
        all.textContent = open ? 'Fold the details' : 'Open all plots';
      });
      bar.append(all);
    }
    return bar;
  }

  private chip(run: ShownRun): HTMLElement {
    const button = el('button', { type: 'button', class: 'chip', 'aria-pressed': 'true' }, swatch(run.color), run.words.label);
    button.addEventListener('click', () => {
      if (this.chosen.has(run)) this.chosen.delete(run);
      else this.chosen.add(run);
      if (this.chosen.size === 0) this.chosen.add(run);
      button.setAttribute('aria-pressed', String(this.chosen.has(run)));
      this.redraw();
    });
    return button;
  }

  private openGroup(group: PlotGroup): HTMLElement {
    const grid = el('div', { class: 'grid' });
    this.fill(group, grid);
    return el('section', { class: 'group' }, el('h3', {}, group.title), grid);
  }

  private foldedGroup(group: PlotGroup): HTMLElement {
    const grid = el('div', { class: 'grid' });
    const fold = el('details', { class: 'group' }, el('summary', {}, el('h3', {}, group.title),
      el('span', { class: 'muted' }, ` ${group.plots.length === 1 ? '1 plot' : `${group.plots.length} plots`}`)), grid);
    fold.addEventListener('toggle', () => {
      if (!fold.open || grid.childElementCount > 0) return;
      for (const plot of this.fill(group, grid)) plot.show(this.selected());
    });
    this.folds.push(fold);
    return fold;
  }

  /** Adds the group's figures, still empty: a plot can only be drawn once it has a width. */
  private fill(group: PlotGroup, grid: HTMLElement): SeriesPlot[] {
    const plots = group.plots.map((byRun) => new SeriesPlot(byRun, this.timeline, (text) => { this.status.textContent = text; }));
    grid.append(...plots.map((p) => p.figure));
    this.drawn.push(...plots);
    return plots;
  }

  private zoomed(range: Range | undefined): void {
    this.resetButton.hidden = range === undefined;
    if (range === undefined) {
      this.hint.textContent = 'Drag across any plot to zoom all of them; double-click to go back.';
      return;
    }
    const step = (range[1] - range[0]) / 100;
    this.hint.textContent = `From ${formatClock(range[0], step)} to ${formatClock(range[1], step)}`;
  }
}

/** The section, and a way to draw it again when the page's colours change. */
export function plotsSection(runs: ShownRun[]): { element: HTMLElement; redraw: () => void } | undefined {
  const groups = groupSeries(runs);
  if (groups.length === 0) return undefined;
  const plots = new PlotsSection(runs, groups);
  return { element: plots.element, redraw: () => plots.redraw() };
}
