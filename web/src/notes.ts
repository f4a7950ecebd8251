// SPDX-License-Identifier: Apache-2.0
// Advice, gaps, and how the measurement was made.
import { el, scrolling, section, swatch } from './dom';
import { formatBytes, formatDate, formatDuration, formatNumber, formatValue } from './format';
import type { Distribution, OtherLoad, Run, SessionDocument, ShownRun } from './types';

/** Equal entries of several runs as one, with the runs they belong to. */
function merged<T>(runs: ShownRun[], pick: (run: Run) => T[], key: (item: T) => string): { item: T; runs: ShownRun[] }[] {
  const found = new Map<string, { item: T; runs: ShownRun[] }>();
  for (const shown of runs) {
    for (const item of pick(shown.run)) {
      const entry = found.get(key(item)) ?? { item, runs: [] };
      entry.runs.push(shown);
      found.set(key(item), entry);
    }
  }
  return [...found.values()];
}

function whichRuns(some: ShownRun[], all: ShownRun[]): HTMLElement | undefined {
  if (all.length < 2 || some.length === all.length) return undefined;
  return el('p', { class: 'which small' }, ...some.map((r) => el('span', {}, swatch(r.color), r.words.label)));
}

export function adviceSection(runs: ShownRun[]): HTMLElement | undefined {
  const advice = merged(runs, (r) => r.advice, (a) => JSON.stringify(a));
  if (advice.length === 0) return undefined;
  return section('advice', 'Advice', el('div', { class: 'advice' }, ...advice.map(({ item, runs: some }) =>
    el('article', { class: 'card' }, whichRuns(some, runs),
      el('h3', {}, item.finding),
      item.action !== '' && el('p', {}, item.action),
      item.evidence !== '' && el('p', { class: 'small muted' }, item.evidence)))));
}

type OtherLine = Exclude<keyof OtherLoad, 'processes'>;
const OTHER_LINES: [string, OtherLine][] = [
  ['CPU cores', 'cpu_cores'],
  ['Disk read', 'disk_read_bytes_per_second'],
  ['Disk write', 'disk_write_bytes_per_second'],
  ['Network received', 'network_receive_bytes_per_second'],
  ['Network sent', 'network_transmit_bytes_per_second'],
];

function usedWords(d: Distribution | undefined): string {
  if (d === undefined) return '';
  return `${formatValue(d.mean, d.unit)} on average, ${formatValue(d.p95, d.unit)} in its p95, ${formatValue(d.peak, d.unit)} at most`;
}

function busiestWords(run: Run): string {
  return (run.other_load?.processes ?? []).map((p) => `${p.name} ${formatValue(p.cpu_cores, 'cores')}`).join(', ');
}

/** What the app needed beside itself, each with its cores and memory. */
export function needsSection(runs: ShownRun[]): HTMLElement | undefined {
  const names = [...new Set(runs.flatMap((r) => Object.keys(r.run.needs ?? {})))];
  if (names.length === 0) return undefined;
  const facts = names.flatMap((name): Fact[] => [
    [`${name}: CPU cores`, (r) => usedWords(r.run.needs?.[name]?.['cpu_cores'])],
    [`${name}: memory`, (r) => usedWords(r.run.needs?.[name]?.['memory_bytes'])],
  ]);
  return section('needs', 'Beside the app',
    el('p', { class: 'muted explain' }, 'What the app needs beside itself. It is measured apart and counts neither as the app nor as a disturbance.'),
    factTable('Beside the app', facts, runs));
}

export function othersSection(runs: ShownRun[]): HTMLElement | undefined {
  if (runs.every((r) => r.run.other_load === undefined)) return undefined;
  const facts: Fact[] = [
    ...OTHER_LINES.map(([title, key]): Fact => [title, (r) => usedWords(r.run.other_load?.[key])]),
    ['Busiest programs', (r) => busiestWords(r.run)],
  ];
  return section('others', 'What else was busy on this machine',
    el('p', { class: 'muted explain' }, 'What all programs but this app, what it needs and Assay used during the run.'),
    factTable('What others used', facts, runs));
}

export function gapsSection(runs: ShownRun[]): HTMLElement {
  const gaps = merged(runs, (r) => r.not_measured, (g) => `${g.what}\n${g.why}`);
  const losses = merged(runs, (r) => r.losses, (l) => JSON.stringify(l));
  const rows = [
    ...gaps.map(({ item, runs: some }) => [item.what, item.why, some] as const),
    ...losses.map(({ item, runs: some }) => [`${formatNumber(item.count)} lost by ${item.source}`, item.reason, some] as const),
  ];
  if (rows.length === 0) {
    return section('gaps', 'What was not measured', el('p', {}, 'Everything that was asked for was measured, and nothing was lost.'));
  }
  return section('gaps', 'What was not measured, and why',
    el('p', { class: 'muted explain' }, 'A value that is missing on this page is unknown, not zero.'),
    el('dl', { class: 'gaps' }, ...rows.map(([what, why, some]) =>
      el('div', {}, el('dt', {}, what), el('dd', {}, why, whichRuns(some, runs))))));
}

type Fact = [string, (shown: ShownRun) => string];

function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replace(/'/g, `'\\''`)}'`;
}

function limitWords(limits: Run['target']['resources']): string {
  const parts: string[] = [];
  if (limits.cpus !== undefined) parts.push(`${formatNumber(limits.cpus)} cores`);
  if (limits.memory_bytes !== undefined) parts.push(`${formatBytes(limits.memory_bytes)} memory`);
  if (limits.pids !== undefined) parts.push(`${formatNumber(limits.pids)} processes`);
  return parts.length > 0 ? parts.join(', ') : 'none';
}

function frequencyWords(board: Run['board']): string {
  const low = board.min_frequency_hertz;
  const high = board.max_frequency_hertz;
  if (low === undefined && high === undefined) return '';
  return `${formatValue(low, 'hertz')} to ${formatValue(high, 'hertz')}`;
}

function costWords(run: Run): string {
  if (!run.sampling) return '';
  const { own_cpu_seconds: own } = run.sampling;
  const duration = run.duration_seconds ?? 0;
  const share = duration > 0 ? `, ${formatNumber((own / duration) * 100)} % of one core` : '';
  return `${formatDuration(own)} of CPU time${share}`;
}

function beatWords({ sampling }: Run): string {
  if (!sampling) return '';
  const late = sampling.late_beats === 0 ? 'none late'
    : `${formatNumber(sampling.late_beats)} late, at worst by ${formatDuration(sampling.worst_lateness_seconds)}`;
  return `${formatNumber(sampling.beats)}, ${late}`;
}

const RUN_FACTS: Fact[] = [
  ['Image', (r) => r.run.target.image ?? ''],
  ['Command', (r) => r.run.target.command.map(shellWord).join(' ')],
  ['Environment', (r) => Object.entries(r.run.target.env).map(([k, v]) => `${k}=${shellWord(v)}`).join(' ')],
  ['Folder', (r) => r.run.target.workdir ?? ''],
  ['Dataset', (r) => r.run.target.dataset ?? ''],
  ['Limits', (r) => limitWords(r.run.target.resources)],
  ['Time given', (r) => (r.run.target.timeout_seconds > 0 ? formatDuration(r.run.target.timeout_seconds) : 'until it exits by itself')],
  ['Warm-up left out', (r) => (r.run.target.warmup_seconds > 0 ? formatDuration(r.run.target.warmup_seconds) : '')],
  ['How it ended', (r) => r.words.status + (r.run.exit.code === undefined ? '' : `, exit code ${r.run.exit.code}`)],
  ['Ran for', (r) => (r.run.duration_seconds === undefined ? '' : formatDuration(r.run.duration_seconds))],
  ['Started', (r) => formatDate(r.run.started_unix_ns)],
  ['CPU time in all', (r) => (r.run.exit.user_seconds === undefined ? ''
    : `${formatDuration(r.run.exit.user_seconds)} own code, ${formatDuration(r.run.exit.system_seconds ?? 0)} kernel`)],
  ['Largest process', (r) => (r.run.exit.max_rss_bytes === undefined ? '' : formatBytes(r.run.exit.max_rss_bytes))],
  ['Told apart by', (r) => r.run.isolation],
];

const BOARD_FACTS: Fact[] = [
  ['CPU governor', (r) => r.run.board.governor ?? ''],
  ['CPU frequency limits', (r) => frequencyWords(r.run.board)],
  ['Power mode', (r) => r.run.board.power_mode ?? ''],
  ['Throttling', (r) => (r.run.board.throttling.length > 0 ? r.run.board.throttling.join(', ') : 'none seen')],
  ['Kernel', (r) => r.run.board.kernel ?? ''],
];
const LOAD_FACT: Fact = ['Load before the start', (r) => formatNumber(r.run.board.load_before)];

const SAMPLING_FACTS: Fact[] = [
  ['Interval asked for', (r) => (r.run.sampling ? formatDuration(r.run.sampling.interval_seconds) : '')],
  ['Interval achieved', (r) => (r.run.sampling ? formatDuration(r.run.sampling.achieved_interval_seconds) : '')],
  ['Beats', (r) => beatWords(r.run)],
  ['Cost of measuring', (r) => costWords(r.run)],
];

function factTable(label: string, facts: Fact[], runs: ShownRun[]): HTMLElement {
  const body = el('tbody');
  for (const [name, value] of facts) {
    const values = runs.map(value);
    if (values.every((v) => v === '')) continue;
    body.append(el('tr', {}, el('th', { scope: 'row' }, name),
      ...values.map((v) => el('td', name === 'Command' || name === 'Environment' ? { class: 'code' } : {}, v === '' ? '–' : v))));
  }
  const heads = runs.map((r) => el('th', { scope: 'col', class: 'run-head' }, swatch(r.color), r.words.label));
  const head = runs.length > 1 && el('thead', {}, el('tr', {}, el('td'), ...heads));
  return scrolling(label, el('table', { class: 'facts' }, head, body));
}

function deviceTable(document: SessionDocument): HTMLElement {
  const d = document.device;
  const facts: [string, string][] = [
    ['Machine', d.hostname], ['Model', d.model ?? ''], ['Kind', d.class ?? ''],
    ['Processor', [d.cpu_model, d.architecture].filter(Boolean).join(', ')],
    ['Cores', String(d.cores)], ['Memory', formatBytes(d.memory_bytes)],
    ['System', [d.os, d.kernel].filter(Boolean).join(', ')],
    ['Session', document.session], ['User', document.user], ['Assay', document.assay_version],
    ...Object.entries(document.labels).map(([k, v]): [string, string] => [k, v]),
  ];
  return scrolling('Device', el('table', { class: 'facts' }, el('tbody', {}, ...facts.filter(([, v]) => v !== '')
    .map(([name, v]) => el('tr', {}, el('th', { scope: 'row' }, name), el('td', {}, v))))));
}

function compareWords(runs: ShownRun[]): HTMLElement {
  const unlike = [...new Set(runs.flatMap((r) => r.run.state_differences))];
  const own = runs.length < 2 ? undefined
    : unlike.length === 0
      ? el('p', {}, 'The runs on this page were made on one machine in like states: compare them freely. Differences of a few per cent between two single runs are often chance; repeat runs to be sure.')
      : el('p', { class: 'warn' }, `Careful: the runs on this page were made in unlike states of the machine (${unlike.join('; ')}). Their difference may come from there.`);
  return section('compare', 'How to compare',
    own ?? '',
    el('p', {}, 'With another session, compare only when device, governor, frequency limits, power mode and throttling above are the same, and the load before the start was low on both. The same numbers for programs are in session.json and samples.csv beside this page.'));
}

export function methodSections(document: SessionDocument, runs: ShownRun[]): HTMLElement[] {
  return [
    section('method', 'How this was measured',
      el('h3', {}, 'What ran'), factTable('What ran', RUN_FACTS, runs),
      el('h3', {}, 'The device'), deviceTable(document),
      el('h3', {}, 'Its state at the start'), factTable('State of the device', [...BOARD_FACTS, LOAD_FACT], runs),
      el('h3', {}, 'Sampling'), factTable('Sampling', SAMPLING_FACTS, runs)),
    compareWords(runs),
  ];
}
