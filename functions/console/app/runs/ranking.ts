import type { JudgedBy } from '../../../../shared/metrics/criteria.ts';
import { MetricRanker, type RankedValue } from '../../../../shared/metrics/metric-ranker.ts';
import { asNumber, type Row } from './row.ts';

/**
 * Best values of rows by a criterion. The page computes them from the metrics' summaries, so another criterion takes
 * effect at once, without reading the rows again.
 */
export class Ranking {
  readonly #ranker: MetricRanker | undefined;
  readonly #best = new WeakMap<Row, RankedValue | null>();

  /** @param judge undefined until the project is loaded; the service's values are used then */
  constructor(judge: JudgedBy | undefined) {
    this.#ranker = judge && new MetricRanker(judge);
  }

  best(row: Row): Pick<RankedValue, 'metric' | 'value'> | null {
    if (this.#ranker === undefined) return row.best;
    const known = this.#best.get(row);
    if (known !== undefined) return known;
    const rankedValue = this.#ranker.best({
      metricNames: Object.keys(row.metrics),
      metric(name) {
        const summary = Object.hasOwn(row.metrics, name) ? row.metrics[name] : undefined;
        return (
          summary && {
            last: asNumber(summary.last) ?? Number.NaN,
            step: summary.step,
            min: asNumber(summary.min) ?? Number.NaN,
            max: asNumber(summary.max) ?? Number.NaN,
          }
        );
      },
    });
    this.#best.set(row, rankedValue);
    return rankedValue;
  }
}
