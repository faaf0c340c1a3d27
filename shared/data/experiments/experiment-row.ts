import type { RunMetrics } from '../../metrics/metric-ranker.ts';
import { ciName } from '../accounts/ci-run.ts';
import type { MetricSummary } from '../metrics/metric-summary.ts';
import { defaultName } from '../projects/default-name.ts';
import type { Experiment } from './experiment.ts';
import type { Tracking } from './tracking.ts';

/** Row of an experiment in a search: all values for filters, orders and lists. */
export interface ExperimentRow
  extends Readonly<
      Pick<
        Experiment,
        | 'experiment_id'
        | 'project_id'
        | 'kind'
        | 'status'
        | 'user_id'
        | 'config_id'
        | 'created_at'
        | 'started_at'
        | 'stopped_at'
        | 'cost_estimate'
        | 'timeout'
        | 'attempts'
        | 'attempt_started_at'
        | 'capacity_type'
        | 'estimates'
        | 'sweep'
        | 'stopped_early'
      >
    >,
    RunMetrics {
  /** Undefined in catalogues of releases that did not store it. */
  readonly batch_attempt: number | undefined;
  /** Name that takes the place of the user's if a run of CI began it. */
  readonly ci_name: string | undefined;
  readonly name: string;
  readonly note: string | null;
  /** Time at which an MLflow client marked it as deleted. */
  readonly deleted_at: string | undefined;
  /** Data sets that it has read. Undefined if it names neither data sets nor models. */
  readonly datasets: readonly RowDataset[] | undefined;
  tag(name: string): string | undefined;
  param(name: string): string | undefined;
  /** Return the last value of a metric. Filters and orders call this for each row. */
  lastOf(name: string): number | undefined;
  readonly tags: ReadonlyMap<string, string>;
  readonly params: ReadonlyMap<string, string>;
  readonly metrics: ReadonlyMap<string, MetricSummary>;
}

/** Searchable fields of a data set that an experiment has read. */
export interface RowDataset {
  name: string;
  digest: string;
  /** Purpose of the read, as reported by the client. */
  context: string | null;
}

/** Tag of a data set in which MLflow's clients report the purpose of the read. */
export const contextTag = 'mlflow.data.context';

/**
 * Return the metrics of an experiment. Releases without summaries stored the best value in the record; it then
 * counts as the only value of its metric.
 */
export function withEarlierBest(
  { best }: Pick<Experiment, 'best'>,
  metrics: ReadonlyMap<string, MetricSummary>,
): ReadonlyMap<string, MetricSummary> {
  const name = best?.metric ?? best?.criterion ?? '';
  if (best === null || metrics.has(name)) return metrics;
  const { value, step } = best;
  return new Map(metrics).set(name, { last: value, min: value, max: value, step, time: 0, count: 1 });
}

/** Build the row of an experiment from its records. */
export function rowOf(experiment: Experiment, { fields, metrics: summarized }: Tracking): ExperimentRow {
  const metrics = withEarlierBest(experiment, summarized);
  const tags = new Map(Object.entries(fields?.tags ?? {}));
  const params = new Map(Object.entries(fields?.params ?? {}));
  return {
    ...experiment,
    ci_name: experiment.ci && ciName(experiment.ci),
    name: fields?.name ?? defaultName(experiment.config_id),
    note: fields?.note ?? null,
    deleted_at: fields?.deleted_at,
    datasets: datasetsOf(fields),
    tag: (name) => tags.get(name),
    param: (name) => params.get(name),
    metricNames: [...metrics.keys()],
    metric: (name) => metrics.get(name),
    lastOf: (name) => metrics.get(name)?.last,
    tags,
    params,
    metrics,
  };
}

function datasetsOf(fields: Tracking['fields']): RowDataset[] | undefined {
  const { datasets, models_read, models_made } = fields ?? {};
  if ((datasets ?? models_read ?? models_made) === undefined) return undefined;
  return (datasets ?? []).map(({ name, digest, tags }) => ({
    name,
    digest,
    context: tags[contextTag] ?? null,
  }));
}
