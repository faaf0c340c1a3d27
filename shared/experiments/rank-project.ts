import type { ExperimentRow } from '../data/experiments/experiment-row.ts';
import { criterionOf, type JudgedBy, usualGoal } from '../metrics/criteria.ts';
import { exampleNames } from '../metrics/metric-aliases.ts';
import { readMetricName } from '../metrics/metric-name.ts';
import { MetricRanker, type RankedValue } from '../metrics/metric-ranker.ts';
import { isSystemMetric } from '../metrics/system-metric.ts';
import { shownNames } from './best-answer.ts';

/**
 * Return the best of a project's runs by its current criterion, and the reported metrics. A value of training data
 * is the best only if no run has a value of other data. Of equal values, the earlier run wins.
 */
export function rankProject(rows: readonly ExperimentRow[], ranker: MetricRanker): RankedProject {
  const names = new Set<string>();
  const seen = new Set<readonly string[]>();
  let found: { row: ExperimentRow; value: RankedValue; ofTraining: boolean } | undefined;
  for (const row of rows) {
    if (row.deleted_at !== undefined) continue;
    // Rows of a segment share their array of names.
    if (!seen.has(row.metricNames))
      for (const name of row.metricNames) if (!isSystemMetric(name)) names.add(name);
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
  const isKnown = () => rows.some((row) => ranker.judge(row) !== undefined);
  const best_reason =
    found !== undefined || metrics.length === 0 || isKnown()
      ? null
      : `No run has reported ${exampleNames(name).join(' or ')}. They reported ${shownNames(metrics.map((metric) => metric.name))}.`;
  return { best: found && { row: found.row, value: found.value }, best_reason, metrics };
}

/** Summary of a project's runs. */
interface RankedProject {
  /** Best run of the successful ones. */
  best: { row: ExperimentRow; value: RankedValue } | undefined;
  /** Sentence that says why no run has a best value. Null if no explanation applies. */
  best_reason: string | null;
  /** Metrics that its runs reported, the most suitable criteria first. */
  metrics: { name: string; goal: 'maximize' | 'minimize' | null }[];
}

/** Sort metrics by their use as a criterion: metrics with a known direction first, then validation data first. */
function metricsIn(names: ReadonlySet<string>): RankedProject['metrics'] {
  return [...names]
    .map((name) => ({ name, goal: usualGoal(name) ?? null, on: dataOrder.indexOf(readMetricName(name).on) }))
    .sort(
      (a, b) =>
        Number(a.goal === null) - Number(b.goal === null) || a.on - b.on || (a.name < b.name ? -1 : 1),
    )
    .slice(0, maxMetrics)
    .map(({ name, goal }) => ({ name, goal }));
}

const dataOrder = ['validation', 'test', null, 'training'];

/** Maximum metrics of a project in a response. */
const maxMetrics = 200;

/** Rankers of several projects, one per project. */
export class ProjectRankers {
  readonly #rankers = new Map<string, MetricRanker>();

  /** Add the criteria of projects, by project id. */
  take(criteria: ReadonlyMap<string, JudgedBy>): void {
    for (const [project_id, criterion] of criteria)
      if (!this.#rankers.has(project_id)) this.#rankers.set(project_id, new MetricRanker(criterion));
  }

  /** Return the projects whose criteria were not added yet. */
  lacking(project_ids: Iterable<string>): string[] {
    return [...new Set(project_ids)].filter((project_id) => !this.#rankers.has(project_id));
  }

  of(project_id: string): MetricRanker {
    const known = this.#rankers.get(project_id);
    if (known !== undefined) return known;
    // The project is gone. Use the default criterion.
    const ranker = new MetricRanker(criterionOf({ project_task: '' }));
    this.#rankers.set(project_id, ranker);
    return ranker;
  }
}
