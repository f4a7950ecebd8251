// SPDX-License-Identifier: Apache-2.0
// Footprint and goals, the runs side by side.
import { el, mark, scrolling, section, swatch } from './dom';
import { formatDuration, formatTick, formatValue } from './format';
import type { Distribution, Distributions, PageData, ShownRun, Statistic } from './types';

const STATISTICS: Statistic[] = ['mean', 'p50', 'p95', 'p99', 'peak'];

type Pick = (shown: ShownRun) => Distributions;

/** Some lines of the runs' statistics. */
interface Block {
  label: string;
  pick: Pick;
  title: (name: string) => string;
  names: string[];
  /** What to say of a run that lacks a line. */
  absent?: string;
  /** Each value counts by itself, however few there are. */
  events?: boolean;
}

/** Memory that was looked at less often than this has only a peak that says something. */
const FEW_SAMPLES = 3;

function hasAverages(d: Distribution, block: Block): boolean {
  return block.events === true || d.unit !== 'bytes' || d.count >= FEW_SAMPLES;
}

/** All names that any run has, in the order of the first run that has them. */
function names(runs: ShownRun[], pick: Pick): string[] {
  return [...new Set(runs.flatMap((r) => Object.keys(pick(r))))];
}

function runHead(shown: ShownRun): HTMLElement {
  return el('th', { scope: 'col', class: 'run-head' }, swatch(shown.color), shown.words.label);
}

/** The mean in full colour, up to the peak in a pale one; all runs on one scale. */
function bar(d: Distribution, largest: number, color: string): HTMLElement {
  const line = el('span', { class: 'bar', 'aria-hidden': 'true' });
  for (const [kind, value] of [['to-peak', d.peak], ['to-mean', d.mean]] as const) {
    const part = el('span', { class: kind });
    part.style.width = `${largest > 0 ? Math.min(100, (100 * value) / largest) : 0}%`;
    part.style.background = `var(${color})`;
    line.append(part);
  }
  return line;
}

function sideCell(d: Distribution | undefined, block: Block, largest: number, color: string): HTMLElement {
  if (d === undefined) return el('td', { class: 'muted' }, block.absent ?? 'not measured');
  const averages = hasAverages(d, block);
  return el('td', {},
    el('span', { class: 'big' }, averages ? formatValue(d.mean, d.unit) : '–'),
    el('span', { class: 'small muted' }, `p95 ${averages ? formatTick(d.p95, d.unit) : '–'}`),
    el('span', { class: 'small muted' }, `peak ${formatTick(d.peak, d.unit)}`),
    bar(d, largest, color));
}

function sideBySide(runs: ShownRun[], block: Block): HTMLTableElement {
  const body = el('tbody');
  for (const name of block.names) {
    const largest = Math.max(...runs.map((r) => block.pick(r)[name]?.peak ?? 0));
    body.append(el('tr', {}, el('th', { scope: 'row', title: name }, block.title(name)),
      ...runs.map((r) => sideCell(block.pick(r)[name], block, largest, r.color))));
  }
  return el('table', { class: 'side' },
    el('thead', {}, el('tr', {}, el('th', { scope: 'col' }, 'Mean, p95 and peak'), ...runs.map(runHead))), body);
}

function full(shown: ShownRun, block: Block): HTMLTableElement {
  const body = el('tbody');
  for (const name of block.names) {
    const d = block.pick(shown)[name];
    if (d === undefined) continue;
    const text = (s: Statistic): string => (s === 'peak' || hasAverages(d, block) ? formatValue(d[s], d.unit) : '–');
    body.append(el('tr', {}, el('th', { scope: 'row', title: name }, block.title(name)),
      ...STATISTICS.map((s) => el('td', s === 'mean' || s === 'peak' ? { class: 'strong' } : {}, text(s))),
      el('td', { class: 'source muted' }, d.source)));
  }
  return el('table', { class: 'full' },
    el('thead', {}, el('tr', {}, el('th', { scope: 'col' }, 'What'),
      ...STATISTICS.map((s) => el('th', { scope: 'col' }, s)), el('th', { scope: 'col', class: 'source' }, 'measured by'))),
    body);
}

function fold(words: string, ...children: HTMLElement[]): HTMLElement {
  return el('details', {}, el('summary', {}, words), ...children);
}

/** One run: all statistics. Several: side by side, and all statistics on demand. */
function tables(runs: ShownRun[], block: Block): HTMLElement[] {
  const first = runs[0];
  if (first === undefined || block.names.length === 0) return [];
  if (runs.length === 1) return [scrolling(block.label, full(first, block))];
  const all = runs.flatMap((r) => [
    el('h4', {}, swatch(r.color), r.words.label),
    scrolling(`${block.label}, ${r.words.label}`, full(r, block)),
  ]);
  return [scrolling(block.label, sideBySide(runs, block)), fold('All statistics, run by run', ...all)];
}

/** "Measured after the warm-up of 5 s. ", or nothing when all was measured. */
function warmupWords(runs: ShownRun[]): string {
  const lengths = [...new Set(runs.map((r) => r.run.target.warmup_seconds))];
  if (lengths.every((s) => s === 0)) return '';
  const [only] = lengths;
  return lengths.length === 1 && only !== undefined ? `Measured after the warm-up of ${formatDuration(only)}. ` : 'Measured after the warm-up. ';
}

export function footprintSection(runs: ShownRun[], titles: PageData['titles']): HTMLElement | undefined {
  const title = (name: string): string => titles[name]?.title ?? name;
  const needs: Pick = (r) => r.run.footprint;
  const reports: Pick = (r) => r.run.metrics;
  const machine: Pick = (r) => r.run.node;
  const isMain = (name: string): boolean => titles[name]?.main ?? false;
  const needed = names(runs, needs);
  const main = tables(runs, { label: 'What the app needed', pick: needs, title, names: needed.filter(isMain) });
  const rest = tables(runs, { label: 'More of what the app needed', pick: needs, title, names: needed.filter((n) => !isMain(n)) });
  const reported = tables(runs, { label: 'What the app reported', pick: reports, title: (name) => name, names: names(runs, reports), absent: 'not reported', events: true });
  const node = tables(runs, { label: 'The whole machine', pick: machine, title, names: names(runs, machine) });
  if (needed.length + reported.length + node.length === 0) return undefined;
  return section('footprint', 'What it needed',
    el('p', { class: 'muted explain' }, `${warmupWords(runs)}p95 means: 95 % of the time it needed no more than this. Plan for the p95 and leave room for the peak.`),
    ...main,
    rest.length > 0 && fold('More: threads, faults, waiting and others', ...rest),
    node.length > 0 && fold('The whole machine meanwhile, other programs included', ...node),
    ...(reported.length > 0 ? [el('h3', {}, 'What it reported about itself'), ...reported] : []));
}

export function goalsSection(runs: ShownRun[]): HTMLElement | undefined {
  const goals = [...new Set(runs.flatMap((r) => r.run.goals.map((g) => g.goal)))];
  if (goals.length === 0) return undefined;
  const body = el('tbody');
  for (const goal of goals) {
    body.append(el('tr', {}, el('th', { scope: 'row' }, goal), ...runs.map((r) => {
      const at = r.run.goals.findIndex((g) => g.goal === goal);
      const found = r.run.goals[at];
      if (found === undefined) return el('td', { class: 'muted' }, 'not asked for');
      return el('td', {}, mark(found.met), ` ${r.words.goal_values[at] ?? ''}`);
    })));
  }
  const heads = runs.length === 1 ? [el('th', { scope: 'col' }, 'measured')] : runs.map(runHead);
  return section('goals', 'Goals', scrolling('Goals', el('table', {},
    el('thead', {}, el('tr', {}, el('th', { scope: 'col' }, 'Goal'), ...heads)), body)));
}
