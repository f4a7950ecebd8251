// SPDX-License-Identifier: Apache-2.0
// Which plots belong together, in the order to show: first what people ask for.
import type { SeriesData, ShownRun } from './types';

export interface PlotGroup {
  title: string;
  open: boolean;
  /** One entry a plot: the same series of each run that has it. */
  plots: Map<ShownRun, SeriesData>[];
}

const FIRST = ['cpu_cores', 'memory_bytes', 'gpu_utilization_ratio', 'gpu_memory_bytes', 'power_watts'];

interface Rule {
  title: string;
  open?: boolean;
  takes: (series: SeriesData) => boolean;
}

const app = (test: RegExp) => (s: SeriesData): boolean => s.scope === 'app' && test.test(s.name);

const RULES: Rule[] = [
  { title: 'What the app needs', open: true, takes: (s) => s.scope === 'app' && s.kind !== 'event' && FIRST.includes(s.name) },
  { title: 'What the app reports', open: true, takes: (s) => s.scope === 'app' && s.kind === 'event' },
  { title: 'CPU in detail', takes: app(/^(cpu_|pressure_cpu|context_switches|threads|processes)/) },
  { title: 'Memory in detail', takes: app(/^(memory_|page_faults|major_page|pressure_memory)/) },
  { title: 'Disk', takes: app(/^(disk_|pressure_io|open_files)/) },
  { title: 'Network', takes: app(/^network_/) },
  { title: 'GPU in detail', takes: app(/^gpu_/) },
  { title: 'More of the app', takes: (s) => s.scope === 'app' },
  { title: 'Beside the app', takes: (s) => s.scope === 'need' },
  { title: 'The whole machine', takes: (s) => s.scope === 'node' },
  { title: 'What Assay itself cost', takes: () => true },
];

function keyOf(s: SeriesData): string {
  return JSON.stringify([s.scope, s.kind === 'event', s.name, s.labels]);
}

function rank(s: SeriesData): number {
  const at = FIRST.indexOf(s.name);
  return at < 0 ? FIRST.length : at;
}

export function groupSeries(runs: ShownRun[]): PlotGroup[] {
  const plots = new Map<string, Map<ShownRun, SeriesData>>();
  for (const run of runs) {
    for (const series of run.series) {
      if (series.t.length === 0) continue;
      const key = keyOf(series);
      const plot = plots.get(key) ?? new Map<ShownRun, SeriesData>();
      plot.set(run, series);
      plots.set(key, plot);
    }
  }
  const groups = RULES.map((r): PlotGroup => ({ title: r.title, open: r.open ?? false, plots: [] }));
  for (const plot of plots.values()) {
    const [any] = plot.values();
    if (any === undefined) continue;
    groups[RULES.findIndex((r) => r.takes(any))]?.plots.push(plot);
  }
  const first = (plot: Map<ShownRun, SeriesData>): number => Math.min(...[...plot.values()].map(rank));
  for (const group of groups) group.plots.sort((a, b) => first(a) - first(b));
  return groups.filter((g) => g.plots.length > 0);
}
