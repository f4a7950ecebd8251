// SPDX-License-Identifier: Apache-2.0
import 'uplot/dist/uPlot.min.css';
import './report.css';
import { fullName, header } from './answer';
import { el } from './dom';
import { adviceSection, gapsSection, methodSections, needsSection, othersSection } from './notes';
import { plotsSection } from './plots';
import { footprintSection, goalsSection } from './tables';
import type { PageData, ShownRun } from './types';

const COLORS = 6;

function shownRuns(data: PageData): ShownRun[] {
  return data.document.runs.map((run, index) => ({
    index,
    run,
    words: data.words[index] ?? { label: `run ${index + 1}`, status: run.status, ran_well: true, goal_values: [] },
    series: data.series[index] ?? [],
    color: `--run-${(index % COLORS) + 1}`,
  }));
}

function build(data: PageData, runs: ShownRun[], page: HTMLElement): () => void {
  const plots = plotsSection(runs);
  const parts = [
    header(data, runs),
    footprintSection(runs, data.titles),
    goalsSection(runs),
    adviceSection(runs),
    plots?.element,
    needsSection(runs),
    othersSection(runs),
    gapsSection(runs),
    ...methodSections(data.document, runs),
    el('footer', { class: 'muted' }, `Made by Assay ${data.document.assay_version}. Session ${data.document.session}.`),
  ];
  for (const part of parts) if (part !== undefined) page.append(part);
  plots?.redraw();
  return () => plots?.redraw();
}

function start(): void {
  const page = document.getElementById('page');
  const text = document.getElementById('data')?.textContent;
  if (page === null || !text) return;
  const data = JSON.parse(text) as PageData;
  const runs = shownRuns(data);
  document.title = `${fullName(data.document.app)} · Assay`;
  page.replaceChildren();
  const redraw = build(data, runs, page);
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redraw);
  const print = (on: boolean) => (): void => {
    document.documentElement.classList.toggle('print', on);
    redraw();
  };
  addEventListener('beforeprint', print(true));
  addEventListener('afterprint', print(false));
}

start();
