// SPDX-License-Identifier: Apache-2.0
// What the page is given: the session document (docs/session-document.md), words and samples.

export interface Distribution {
  mean: number;
  p50: number;
  p95: number;
  p99: number;
  peak: number;
  min: number;
  count: number;
  unit: string;
  source: string;
}

export type Statistic = 'mean' | 'p50' | 'p95' | 'p99' | 'peak';
export type Distributions = Record<string, Distribution>;

export interface Goal {
  goal: string;
  metric: string;
  statistic: string;
  value?: number;
  unit?: string;
  met: boolean;
}

export interface Target {
  command: string[];
  image?: string;
  env: Record<string, string>;
  workdir?: string;
  dataset?: string;
  timeout_seconds: number;
  warmup_seconds: number;
  resources: { cpus?: number; memory_bytes?: number; pids?: number };
  goals: { metric: string; statistic: string; bound: number }[];
}

/** What others on the node used, and who was busiest. */
export interface OtherLoad {
  cpu_cores?: Distribution;
  disk_read_bytes_per_second?: Distribution;
  disk_write_bytes_per_second?: Distribution;
  network_receive_bytes_per_second?: Distribution;
  network_transmit_bytes_per_second?: Distribution;
  processes?: { name: string; cpu_cores: number }[];
}

export interface Run {
  run: number;
  target: Target;
  runtime: string;
  isolation: string;
  status: string;
  exit: {
    code?: number;
    signal?: number;
    user_seconds?: number;
    system_seconds?: number;
    max_rss_bytes?: number;
    detail?: string;
  };
  started_unix_ns: number;
  duration_seconds?: number;
  board: {
    load_before: number;
    throttling: string[];
    governor?: string;
    min_frequency_hertz?: number;
    max_frequency_hertz?: number;
    power_mode?: string;
    kernel?: string;
  };
  sampling?: {
    interval_seconds: number;
    achieved_interval_seconds: number;
    beats: number;
    late_beats: number;
    worst_lateness_seconds: number;
    own_cpu_seconds: number;
  };
  not_measured: { what: string; why: string }[];
  losses: { source: string; reason: string; count: number }[];
  state_differences: string[];
  /** Absent: it is not known what others used. */
  disturbed?: boolean;
  other_load?: OtherLoad;
  answer: string;
  footprint: Distributions;
  node: Distributions;
  /** What ran beside the app because it needs it, by name. */
  needs?: Record<string, Distributions>;
  metrics: Distributions;
  goals: Goal[];
  advice: { finding: string; evidence: string; action: string }[];
}

export interface SessionDocument {
  session: string;
  app: { name: string; namespace?: string; version?: string; image?: string };
  device: {
    hostname: string;
    cores: number;
    memory_bytes: number;
    model?: string;
    class?: string;
    cpu_model?: string;
    architecture?: string;
    os?: string;
    kernel?: string;
  };
  user: string;
  assay_version: string;
  created_unix_ns: number;
  labels: Record<string, string>;
  runs: Run[];
}

export interface RunWords {
  label: string;
  status: string;
  ran_well: boolean;
  goal_values: string[];
  /** Why the numbers of a disturbed run may be off. */
  disturbance?: string;
  /** The end of what a failed app wrote on standard error. */
  last_words?: string;
}

export interface SeriesData {
  name: string;
  title: string;
  unit: string;
  kind: 'gauge' | 'counter' | 'event';
  scope: 'app' | 'node' | 'profiler' | 'need';
  source: string;
  labels: [string, string][];
  samples: number;
  help?: string;
  /** Seconds since the run's start. */
  t: number[];
  v: number[];
}

export interface PageData {
  document: SessionDocument;
  words: RunWords[];
  titles: Record<string, { title: string; main: boolean }>;
  /** By run. */
  series: SeriesData[][];
}

/** A run with its number among the page's runs, its words and its colour (the name of a custom property). */
export interface ShownRun {
  index: number;
  run: Run;
  words: RunWords;
  series: SeriesData[];
  color: string;
}
