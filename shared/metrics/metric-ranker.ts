import type { JudgedBy } from './criteria.ts';
import { isOfTraining, metricRank } from './metric-aliases.ts';
import { isSystemMetric } from './system-metric.ts';

/**
 * Ranks runs by a criterion, from the summaries of their metrics. Runs are trainings, client-recorded experiments
 * and imported experiments. The ranker caches parsed names, also those of an array of names that runs
 * share.
 */
export class MetricRanker {
  readonly criterion: JudgedBy;
  readonly #ranks = new Map<string, number | undefined>();
  readonly #candidates = new WeakMap<readonly string[], readonly Candidate[]>();

  constructor(criterion: JudgedBy) {
    this.criterion = criterion;
  }

  #rankOf(name: string): number | undefined {
    // A metric of the machine ranks runs only where the project asks for just that.
    const isRanked = !isSystemMetric(name) || name === this.criterion.name;
    if (!this.#ranks.has(name))
      this.#ranks.set(name, isRanked ? metricRank(name, this.criterion.name) : undefined);
    return this.#ranks.get(name);
  }

  #candidatesAmong(names: readonly string[]): readonly Candidate[] {
    const known = this.#candidates.get(names);
    if (known !== undefined) return known;
    const found = names
      .flatMap((name) => {
        const rank = this.#rankOf(name);
        return rank === undefined ? [] : [{ name, rank }];
      })
      .sort((a, b) => a.rank - b.rank || (a.name < b.name ? -1 : 1));
    this.#candidates.set(names, found);
    return found;
  }

  /** Return the names of the run's metrics that stand for the criterion, with any value. */
  standing({ metricNames, metric }: RunMetrics): string[] {
    return this.#candidatesAmong(metricNames).flatMap(({ name }) =>
      metric(name) === undefined ? [] : [name],
    );
  }

  /** Return the best value of a run, from its best-ranked metric that has a finite value. */
  best(run: RunMetrics): RankedValue | null {
    return this.judge(run)?.best ?? null;
  }

  /** Return the best value, and whether it was measured on training data, which flatter the model. */
  judge(run: RunMetrics): { best: RankedValue; ofTraining: boolean } | undefined {
    const { name: criterion, goal } = this.criterion;
    for (const { name, rank } of this.#candidatesAmong(run.metricNames)) {
      const summary = run.metric(name);
      if (summary === undefined) continue;
      const value = goal === 'maximize' ? summary.max : summary.min;
      if (!Number.isFinite(value)) continue;
      const reached = goal === 'maximize' ? summary.max_step : summary.min_step;
      const step = reached ?? (value === summary.last ? summary.step : null);
      return { best: { criterion, metric: name, value, step }, ofTraining: isOfTraining(rank) };
    }
    return undefined;
  }

  /** Return a number that is the lower, the better the best value of a run is. */
  orderOf(run: RunMetrics): number | undefined {
    const value = this.best(run)?.value;
    return value === undefined ? undefined : this.compare(value, 0);
  }

  /** Compare two values. Return a negative number if the first is better. */
  compare(one: number, other: number): number {
    return this.criterion.goal === 'maximize' ? other - one : one - other;
  }
}

interface Candidate {
  name: string;
  rank: number;
}

/** Metrics of a run. */
export interface RunMetrics {
  /** Names that include all metrics of the run. Runs may share the array. */
  readonly metricNames: readonly string[];
  metric(name: string): MetricSummary | undefined;
}

/**
 * Part of a metric's summary that the ranker uses: its last value, its extremes (NaN without any number), and
 * their steps.
 */
interface MetricSummary {
  last: number;
  step: number | null;
  min: number;
  max: number;
  min_step?: number | null;
  max_step?: number | null;
}

/** Best value of a run. */
export interface RankedValue {
  criterion: string;
  /** Reported name. */
  metric: string;
  value: number;
  step: number | null;
}

/** Adapt a map of metrics for {@link MetricRanker}. */
export const metricsOf = (metrics: ReadonlyMap<string, MetricSummary>): RunMetrics => ({
  metricNames: [...metrics.keys()],
  metric: (name) => metrics.get(name),
});
