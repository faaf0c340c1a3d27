import { type ChartedRun, MetricSeries } from './metric-series.ts';

/** Data subset of a metric, from the prefix of its name; `''` without a prefix. */
export type Subset = '' | 'train' | 'val' | 'test';

const prefixed = /^(train|val|test)_(.+)$/s;

export const maxPanels = 12;

/**
 * Maximum number of metrics to count beyond the panels. The limit bounds the memory for a job that invents names.
 */
const maxOthers = 1000;

export interface MetricPanel {
  /** Name of the metric without the prefix. */
  name: string;
  series: ReadonlyMap<Subset, MetricSeries>;
}

/** Collect a job's metrics for a chart. For example, `loss` and `val_loss` share a panel. */
export class MetricPanels {
  readonly #panels = new Map<string, Map<Subset, MetricSeries>>();
  readonly #others = new Set<string>();
  #points = 0;

  /**
   * Add points of a metric. Points of one metric must arrive in the order of their reports. The metrics must
   * arrive in the order of their first points.
   */
  take({ name, steps, times, values }: ChartedRun, isWanted?: (step: number) => boolean): void {
    let [series, isKnown]: [MetricSeries | undefined, boolean] = [undefined, false];
    for (let at = 0; at < values.length; at += 1) {
      const step = steps[at] ?? Number.NaN;
      if (isWanted !== undefined && !isWanted(step)) continue;
      this.#points += 1;
      // Create the series at the first wanted point, so a metric without wanted points has no panel.
      if (!isKnown) series = this.#seriesOf(name);
      isKnown = true;
      series?.add(values[at] ?? Number.NaN, step, times[at] ?? 0);
    }
  }

  /** Return the series of a metric; undefined if it has no panel. */
  #seriesOf(name: string): MetricSeries | undefined {
    const [, prefix, rest] = prefixed.exec(name) ?? [];
    const title = rest ?? name;
    let panel = this.#panels.get(title);
    if (panel === undefined) {
      if (this.#panels.size === maxPanels) {
        if (this.#others.size < maxOthers) this.#others.add(title);
        return undefined;
      }
      panel = new Map();
      this.#panels.set(title, panel);
    }
    const subset = asSubset(prefix);
    const series = panel.get(subset) ?? new MetricSeries(name);
    panel.set(subset, series);
    return series;
  }

  /** Panels in the order of the metrics' first reports. */
  get panels(): MetricPanel[] {
    return [...this.#panels].map(([name, series]) => ({ name, series }));
  }

  /** Number of metrics without a panel, counted up to 1,000. */
  get others(): number {
    return this.#others.size;
  }

  /** Number of points added. */
  get points(): number {
    return this.#points;
  }
}

function asSubset(name: string | undefined): Subset {
  return name === 'train' || name === 'val' || name === 'test' ? name : '';
}
