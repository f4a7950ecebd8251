// SPDX-License-Identifier: Apache-2.0
// One time axis for all plots: the part of it that is shown, and the moment under the pointer.

export type Range = readonly [number, number];

export interface TimelinePlot {
  rangeChanged(): void;
  /** `pointed`: this is the plot that the pointer is on. */
  momentChanged(time: number | undefined, pointed: boolean): void;
}

export class Timeline {
  private readonly plots = new Set<TimelinePlot>();
  private shown: Range;

  constructor(private readonly full: Range, private readonly onZoom: (zoomed: Range | undefined) => void) {
    this.shown = full;
  }

  add(plot: TimelinePlot): void {
    this.plots.add(plot);
  }

  remove(plot: TimelinePlot): void {
    this.plots.delete(plot);
  }

  range(): Range {
    return this.shown;
  }

  zoom(from: number, to: number): void {
    const [low, high] = this.full;
    const shortest = (high - low) / 1e5;
    const range: Range = [Math.max(low, from), Math.min(high, to)];
    if (range[1] - range[0] < shortest) return;
    this.set(range);
  }

  /** Larger than 1 zooms in, around `center`. */
  zoomBy(factor: number, center: number): void {
    const [low, high] = this.shown;
    this.zoom(center - (center - low) / factor, center + (high - center) / factor);
  }

  reset(): void {
    this.set(this.full);
  }

  point(time: number | undefined, at?: TimelinePlot): void {
    for (const plot of this.plots) plot.momentChanged(time, plot === at);
  }

  private set(range: Range): void {
    this.shown = range;
    const whole = range[0] === this.full[0] && range[1] === this.full[1];
    this.onZoom(whole ? undefined : range);
    for (const plot of this.plots) plot.rangeChanged();
  }
}
