import type { ChartedPoint } from './charted-point.ts';
import { MetricSeries } from './metric-series.ts';

/** Panels that are drawn at most. */
export const panelsMost = 12;
/** Number of other metrics that are shown by name, so that a job that invents names takes no memory. */
const othersMost = 1000;

/** Which data a metric was measured on, by the prefix of its name; `''` where it does not say. */
export type Subset = '' | 'train' | 'val' | 'test';

export interface MetricPanel {
  /** Name of the metric, without the prefix. */
  name: string;
  series: ReadonlyMap<Subset, MetricSeries>;
}

const prefixed = /^(train|val|test)_(.+)$/s;

function asSubset(name: string | undefined): Subset {
  return name === 'train' || name === 'val' || name === 'test' ? name : '';
}

/** Gathers what a chart shows of a job's metrics: `loss` and `val_loss`, say, share a panel. */
export class MetricPanels {
  readonly #panels = new Map<string, Map<Subset, MetricSeries>>();
  readonly #others = new Set<string>();
  #points = 0;

  /** Takes points in, in the order in which they were reported. */
  take(points: Iterable<ChartedPoint>): void {
    for (const point of points) this.#add(point);
  }

  #add(point: ChartedPoint): void {
    this.#points += 1;
    const [, prefix, rest] = prefixed.exec(point.name) ?? [];
    const name = rest ?? point.name;
    let panel = this.#panels.get(name);
    if (panel === undefined) {
      if (this.#panels.size === panelsMost) {
        if (this.#others.size < othersMost) this.#others.add(name);
        return;
      }
      panel = new Map();
      this.#panels.set(name, panel);
    }
    const subset = asSubset(prefix);
    const series = panel.get(subset) ?? new MetricSeries(point.name);
    panel.set(subset, series);
    series.add(point);
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
