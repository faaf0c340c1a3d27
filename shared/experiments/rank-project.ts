import type { ExperimentRow } from '../data/experiments/experiment-row.ts';
import { criterionOf, type JudgedBy, usualGoal } from '../metrics/criteria.ts';
import { exampleNames } from '../metrics/metric-aliases.ts';
import { readMetricName } from '../metrics/metric-name.ts';
import { MetricRanker, type RankedValue } from '../metrics/metric-ranker.ts';
import { shownNames } from './best-answer.ts';

/**
 * The best of a project's runs, by its criterion as it is now, and the metrics that they reported. A value of training
 * data is the best only where no run has one of other data. Of equal values the earlier run has the better one.
 */
export function rankProject(rows: readonly ExperimentRow[], ranker: MetricRanker): RankedProject {
  const names = new Set<string>();
  const seen = new Set<readonly string[]>();
  let found: { row: ExperimentRow; value: RankedValue; ofTraining: boolean } | undefined;
  for (const row of rows) {
    if (row.deleted_at !== undefined) continue;
    // Rows of a segment share their names.
    if (!seen.has(row.metricNames)) for (const name of row.metricNames) names.add(name);
    seen.add(row.metricNames);
    if (row.status !== 'SUCCEEDED') continue;
    const judged = ranker.judge(row);
    if (judged === undefined) continue;
    const order =
      found === undefined
        ? -1
        : Number(judged.ofTraining) - Number(found.ofTraining) ||
          ranker.compare(judged.best.value, found.value.value) ||
          (row.experiment_id < found.row.experiment_id ? -1 : 1);
    if (order < 0) found = { row, value: judged.best, ofTraining: judged.ofTraining };
  }
  const metrics = metricsIn(names);
  const { name } = ranker.criterion;
  const isKnown = rows.some((row) => ranker.judge(row) !== undefined);
  const best_reason =
    found !== undefined || metrics.length === 0 || isKnown
      ? null
      : `No run has reported ${exampleNames(name).join(' or ')}. There are ${shownNames(metrics.map((one) => one.name))}.`;
  return { best: found && { row: found.row, value: found.value }, best_reason, metrics };
}

/** What the runs of a project have together. */
interface RankedProject {
  /** The best of those that succeeded. */
  best: { row: ExperimentRow; value: RankedValue } | undefined;
  /** Why there is none although there are runs, in words. */
  best_reason: string | null;
  /** Metrics that its runs reported, those first by which one would judge them. */
  metrics: { name: string; goal: 'maximize' | 'minimize' | null }[];
}

/** Metrics in the order of their use as a criterion: those that tell a direction, validation data first. */
function metricsIn(names: ReadonlySet<string>): RankedProject['metrics'] {
  return [...names]
    .map((name) => ({ name, goal: usualGoal(name) ?? null, on: dataOrder.indexOf(readMetricName(name).on) }))
    .sort(
      (one, other) =>
        Number(one.goal === null) - Number(other.goal === null) ||
        one.on - other.on ||
        (one.name < other.name ? -1 : 1),
    )
    .slice(0, maxMetrics)
    .map(({ name, goal }) => ({ name, goal }));
}

const dataOrder = ['validation', 'test', null, 'training'];

/** Most metrics of a project that are answered. */
const maxMetrics = 200;

/** The rankers of some projects, one for each. */
export class ProjectRankers {
  readonly #rankers = new Map<string, MetricRanker>();

  /** Take in the criteria of projects, by their ids. */
  take(criteria: ReadonlyMap<string, JudgedBy>): void {
    for (const [project_id, criterion] of criteria)
      if (!this.#rankers.has(project_id)) this.#rankers.set(project_id, new MetricRanker(criterion));
  }

  /** Those of these projects whose criteria were not taken in. */
  lacking(project_ids: Iterable<string>): string[] {
    return [...new Set(project_ids)].filter((project_id) => !this.#rankers.has(project_id));
  }

  of(project_id: string): MetricRanker {
    const known = this.#rankers.get(project_id);
    if (known !== undefined) return known;
    // Of a project that is gone.
    const ranker = new MetricRanker(criterionOf({ project_task: '' }));
    this.#rankers.set(project_id, ranker);
    return ranker;
  }
}
