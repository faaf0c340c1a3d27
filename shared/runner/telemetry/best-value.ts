import { metricRank } from '../../criteria/metric-aliases.ts';
import type { Experiment } from '../../data/experiment.ts';
import type { MetricPoint } from '../../data/metric-point.ts';
import { isTableNumber } from '../../data/stored-number.ts';

/** What ranks an experiment, as its record keeps it. */
export interface Ranking {
  best: Experiment['best'];
  metric_names: string[];
}

/** What the record of an experiment says so far. */
export const rankingOf = ({ best, metric_names = [] }: Experiment): Ranking => ({ best, metric_names });

/** Most names of metrics that a record keeps. */
const namesMost = 20;
/** Most characters of a name that a record keeps. */
const nameMost = 64;

/**
 * Keeps the best value that a job reports for its criterion: of one metric, the best-ranked of those that stand for it.
 * Also keeps the names of other metrics, by which a person sees why there is no best value.
 */
export class BestValue {
  readonly #criterion: Experiment['criterion'];
  #best: Experiment['best'];
  #rank: number | undefined;
  readonly #names: Set<string>;

  constructor({ criterion, best, metric_names = [] }: Experiment) {
    this.#criterion = criterion;
    this.#best = best;
    this.#rank = best === null ? undefined : metricRank(best.metric ?? best.criterion, criterion);
    this.#names = new Set(metric_names);
  }

  get value(): Ranking {
    return { best: this.#best, metric_names: [...this.#names] };
  }

  /** Take in points. Return whether the ranking is another one by them. */
  take(points: readonly MetricPoint[]): boolean {
    const [best, names] = [this.#best, this.#names.size];
    for (const point of points) this.#takePoint(point);
    return this.#best !== best || (this.#best === null && this.#names.size !== names);
  }

  #takePoint({ name, value, step }: MetricPoint): void {
    const rank = metricRank(name, this.#criterion);
    if (rank === undefined) {
      if (this.#names.size < namesMost) this.#names.add(name.slice(0, nameMost));
      return;
    }
    // The table takes no number beyond these.
    if (!isTableNumber(value)) return;
    const best = this.#best;
    const isSame = best !== null && (best.metric ?? best.criterion) === name;
    const isMeant = best === null || rank < (this.#rank ?? Number.POSITIVE_INFINITY);
    const isBetter =
      isSame && (this.#criterion.goal === 'maximize' ? value > best.value : value < best.value);
    if (!isMeant && !isBetter) return;
    this.#best = {
      criterion: this.#criterion.name,
      metric: name,
      value,
      step: step !== null && isTableNumber(step) ? step : null,
    };
    this.#rank = rank;
  }
}
