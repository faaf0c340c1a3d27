import { type ChartedRun, MetricSeries } from './metric-series.ts';

/** Which data a metric was measured on, by the prefix of its name; `''` where it does not say. */
export type Subset = '' | 'train' | 'val' | 'test';

const prefixed = /^(train|val|test)_(.+)$/s;

/** Panels that are drawn at most. */
export const maxPanels = 12;

/** Number of other metrics that are shown by name, so that a job that invents names takes no memory. */
const maxOthers = 1000;

export interface MetricPanel {
  /** Name of the metric, without the prefix. */
  name: string;
  series: ReadonlyMap<Subset, MetricSeries>;
}

/** Gathers what a chart shows of a job's metrics: `loss` and `val_loss`, say, share a panel. */
export class MetricPanels {
  readonly #panels = new Map<string, Map<Subset, MetricSeries>>();
  readonly #others = new Set<string>();
  #points = 0;

  /**
   * Take in points of a metric. Those of one metric come in the order in which they were reported, and the first ones of
   * the metrics, too.
   */
  take({ name, steps, times, values }: ChartedRun, isWanted?: (step: number) => boolean): void {
    let [series, isKnown]: [MetricSeries | undefined, boolean] = [undefined, false];
    for (let at = 0; at < values.length; at += 1) {
      const step = steps[at] ?? Number.NaN;
      if (isWanted !== undefined && !isWanted(step)) continue;
      this.#points += 1;
      // Looked up with the first point that is wanted: a metric without one has no panel.
      if (!isKnown) series = this.#seriesOf(name);
      isKnown = true;
      series?.add(values[at] ?? Number.NaN, step, times[at] ?? 0);
    }
  }

  /** The series of a metric; undefined where it has no panel. */
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

  /** Panels in the order in which their metrics were first reported. */
  get panels(): MetricPanel[] {
    return [...this.#panels].map(([name, series]) => ({ name, series }));
  }

  /** Metrics that have no panel; from 1,000 on they are not counted. */
  get others(): number {
    return this.#others.size;
  }

  /** Points taken in. */
  get points(): number {
    return this.#points;
  }
}

function asSubset(name: string | undefined): Subset {
  return name === 'train' || name === 'val' || name === 'test' ? name : '';
}
