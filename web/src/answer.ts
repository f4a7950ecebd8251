// SPDX-License-Identifier: Apache-2.0
// The head of the page: which app, on what, and the answer.
import { el, mark, swatch } from './dom';
import { formatBytes, formatDate, formatDuration } from './format';
import type { PageData, SessionDocument, ShownRun } from './types';

export function fullName(app: SessionDocument['app']): string {
  const name = app.namespace ? `${app.namespace}/${app.name}` : app.name;
  return app.version ? `${name}:${app.version}` : name;
}

function deviceWords(device: SessionDocument['device']): string {
  const parts = [device.hostname];
  if (device.model) parts.push(device.model);
  parts.push(`${device.cores} cores`, `${formatBytes(device.memory_bytes)} memory`);
  return parts.join(' · ');
}

function sentence(text: string): string {
  const full = text === '' ? 'was not measured' : text;
  return /[.!?]$/.test(full) ? full : `${full}.`;
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function verdict(runs: ShownRun[]): HTMLElement {
  const broken = runs.filter((r) => !r.words.ran_well).length;
  const goals = runs.flatMap((r) => r.run.goals);
  const missed = goals.filter((g) => !g.met).length;
  const ok = broken === 0 && missed === 0;
  const parts: string[] = [];
  if (broken > 0) parts.push(runs.length === 1 ? 'The run did not end well' : `${broken} of ${runs.length} runs did not end well`);
  if (missed > 0) parts.push(goals.length === 1 ? 'Goal missed' : `${missed} of ${goals.length} goals missed`);
  if (ok && goals.length > 0) parts.push(goals.length === 1 ? 'Goal met' : `All ${goals.length} goals met`);
  if (ok && goals.length === 0) parts.push('Measured; no goals were set');
  const disturbed = runs.filter((r) => r.run.disturbed === true).length;
  if (disturbed > 0) parts.push(runs.length === 1 ? 'disturbed by others' : `${disturbed} of ${runs.length} runs disturbed by others`);
  return el('p', { class: ok ? 'verdict ok' : 'verdict bad' }, mark(ok, ok ? 'good' : 'attention'), ` ${parts.join(', ')}`);
}

function disturbance(shown: ShownRun): HTMLElement | undefined {
  const text = shown.words.disturbance;
  return text === undefined ? undefined : el('p', { class: 'warn disturbed' }, `Disturbed: ${sentence(text)}`);
}

function goalMarks(shown: ShownRun): HTMLElement | undefined {
  if (shown.run.goals.length === 0) return undefined;
  const list = el('ul', { class: 'goal-marks' });
  shown.run.goals.forEach((goal, i) => {
    const value = shown.words.goal_values[i] ?? '';
    list.append(el('li', {}, mark(goal.met), ' ', el('span', { class: 'goal-name' }, goal.goal), el('span', { class: 'muted' }, goal.value === undefined ? `: ${value}` : `: measured ${value}`)));
  });
  return list;
}

function statusLine(shown: ShownRun): HTMLElement {
  const duration = shown.run.duration_seconds;
  const after = duration === undefined ? '' : ` after ${formatDuration(duration)}`;
  const well = shown.words.ran_well;
  return el('p', { class: well ? 'status muted' : 'status bad' }, capitalized(`${shown.words.status}${after}`));
}

function lastWords(shown: ShownRun): HTMLElement | undefined {
  const text = shown.words.last_words;
  if (text === undefined) return undefined;
  return el('div', { class: 'last-words' }, el('p', { class: 'small muted' }, `Its last words, the end of run-${shown.run.run}/stderr.log:`), el('pre', {}, text));
}

function single(shown: ShownRun, app: string): HTMLElement {
  return el('div', { class: 'answer-single' },
    el('p', { class: 'lead' }, el('strong', {}, app), ` ${sentence(shown.run.answer)}`),
    disturbance(shown), goalMarks(shown), statusLine(shown), lastWords(shown));
}

function card(shown: ShownRun): HTMLElement {
  const box = el('article', { class: 'card answer-card' },
    el('h2', {}, swatch(shown.color), shown.words.label),
    el('p', { class: 'lead' }, capitalized(sentence(shown.run.answer))),
    disturbance(shown), goalMarks(shown), statusLine(shown), lastWords(shown));
  box.style.setProperty('--run', `var(${shown.color})`);
  return box;
}

export function header(data: PageData, runs: ShownRun[]): HTMLElement {
  const { app, device, created_unix_ns } = data.document;
  const first = runs[0];
  const answers = runs.length === 1 && first !== undefined
    ? single(first, app.name)
    : el('div', { class: 'cards' }, ...runs.map(card));
  return el('header', { id: 'answer' },
    el('p', { class: 'brand' }, 'Assay', el('span', { class: 'muted' }, ' profile')),
    el('h1', {}, fullName(app)),
    el('p', { class: 'muted where' }, `${deviceWords(device)} · ${formatDate(created_unix_ns)}`),
    runs.length > 0 && verdict(runs),
    runs.length > 0 ? answers : el('p', { class: 'lead' }, 'This session has no runs.'));
}
